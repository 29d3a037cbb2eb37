#include "text/spoken/speak_parts.h"

#include <algorithm>

namespace mynah {

void SourceMap::add(size_t length, ByteRange source) {
  if (length == 0) {
    return;
  }
  const size_t begin = runs_.empty() ? 0 : runs_.back().text_end;
  const bool copied = source.end - source.begin == length;
  if (!runs_.empty() && copied) {
    Run& last = runs_.back();
    const bool last_copied = last.text_end - last.text_begin == last.source.end - last.source.begin;
    if (last_copied && last.source.end == source.begin) {
      last.text_end += length;
      last.source.end = source.end;
      return;
    }
  }
  runs_.push_back({.text_begin = begin, .text_end = begin + length, .source = source});
}

ByteRange SourceMap::byte_source(size_t at) const {
  const auto run = std::ranges::upper_bound(runs_, at, {}, &Run::text_end);
  if (run == runs_.end()) {
    const size_t end = runs_.empty() ? 0 : runs_.back().source.end;
    return {end, end};
  }
  if (run->text_end - run->text_begin != run->source.end - run->source.begin) {
    return run->source;
  }
  const size_t source = run->source.begin + (at - run->text_begin);
  return {source, source + 1};
}

ByteRange SourceMap::source_of(ByteRange text) const {
  const ByteRange first = byte_source(text.begin);
  if (text.end <= text.begin) {
    return {first.begin, first.begin};
  }
  return {first.begin, byte_source(text.end - 1).end};
}

std::vector<TextMark> marks_within(std::span<const TextMark> marks, ByteRange text) {
  std::vector<TextMark> within;
  for (const TextMark& mark : marks) {
    const size_t begin = std::max(mark.begin, text.begin);
    const size_t end = std::min(mark.end, text.end);
    if (begin < end) {
      TextMark part = mark;
      part.begin = begin - text.begin;
      part.end = end - text.begin;
      within.push_back(std::move(part));
    }
  }
  return within;
}

}  // namespace mynah
