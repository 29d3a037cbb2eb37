#include "text/spoken/sentences.h"

#include <algorithm>
#include <utility>

#include "text/spoken/characters.h"
#include "text/spoken/forgotten_space.h"
#include "text/spoken/languages/language_stops.h"
#include "text/spoken/sentence_stop.h"
#include "text/spoken/text_around.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A line that was not broken because it was full: a heading, a verse, an address.
constexpr ptrdiff_t kShortLine = 40;

}  // namespace

SentenceSplitter::SentenceSplitter(SentenceOptions options)
    : options_(std::move(options)), ordinal_stops_(writes_ordinals_with_stops(options_.language)) {}

std::vector<Sentence> SentenceSplitter::push(std::string_view text) {
  std::vector<Sentence> sentences;
  buffer_ += text;
  scan(sentences);
  forget();
  return sentences;
}

std::vector<Sentence> SentenceSplitter::finish() {
  std::vector<Sentence> sentences;
  final_ = true;
  scan(sentences);
  emit(buffer_.size(), Sentence::Break::Paragraph, sentences);
  *this = SentenceSplitter(std::move(options_));
  return sentences;
}

void SentenceSplitter::scan(std::vector<Sentence>& out) {
  while (at_ < buffer_.size()) {
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    if (!final_ && rest.size() < 4 && incomplete_utf8_tail(rest) == rest.size()) {
      return;
    }
    const size_t begin = at_;
    const Utf8Step step = next_code_point(rest);
    const char32_t c = step.code_point;
    if (at_line_begin_ && !is_white_space(c) && !look_at_line_begin()) {
      return;
    }
    size_t after = at_ + step.bytes;
    if (is_line_break(c)) {
      const Verdict verdict = judge_line_break(after);
      if (!apply(verdict, after, out)) {
        return;
      }
      at_line_begin_ = true;
    } else if (is_spaced_stop(c) || is_free_stop(c)) {
      const Verdict verdict = judge_stop(after);
      if (!apply(verdict, after, out)) {
        return;
      }
    } else {
      at_ = after;
    }
    // White space before a sentence is no part of its length, however it came.
    if (begin == start_ && is_white_space(c)) {
      start_ = at_;
    }
    if (at_ - start_ >= options_.max_bytes) {
      cut(out);
    }
  }
}

// Whether enough of the line is there to see whether it is a list's item.
bool SentenceSplitter::look_at_line_begin() {
  if (!final_ && buffer_.size() - at_ < kMarkBytes) {
    return false;
  }
  line_ = static_cast<ptrdiff_t>(at_);
  line_is_item_ = is_list_mark(std::string_view(buffer_).substr(at_));
  at_line_begin_ = false;
  return true;
}

// False where more text is needed first.
bool SentenceSplitter::apply(Verdict verdict, size_t after, std::vector<Sentence>& out) {
  if (verdict == Verdict::NeedsMore) {
    return false;
  }
  at_ = after;
  if (verdict != Verdict::Goes) {
    emit(after,
         verdict == Verdict::EndsParagraph ? Sentence::Break::Paragraph : Sentence::Break::Sentence,
         out);
  }
  return true;
}

SentenceSplitter::Verdict SentenceSplitter::judge_stop(size_t& after) const {
  const std::string_view text = buffer_;
  Stop stop = Stop::at(text, at_);
  after = stop.end;
  if (!stop.complete || stop.end == text.size()) {
    return final_ ? Verdict::EndsParagraph : Verdict::NeedsMore;
  }
  if (stop.note_cut && !final_) {
    return Verdict::NeedsMore;
  }
  const Gap gap = gap_at(text, stop.end);
  const std::string_view behind = text.substr(gap.end);
  if (!final_ && incomplete_utf8_tail(behind) == behind.size()) {
    return Verdict::NeedsMore;
  }
  if (gap.end == stop.end && !stop.free) {
    switch (forgotten_space(text, start_, {.begin = stop.begin, .end = stop.end}, final_)) {
      case ForgottenSpace::No:
        return Verdict::Goes;
      case ForgottenSpace::Yes:
        return Verdict::Ends;
      case ForgottenSpace::NeedsMore:
        return Verdict::NeedsMore;
    }
  }
  if (gap.paragraph || (final_ && gap.end == text.size())) {
    return Verdict::EndsParagraph;
  }
  if (gap.full) {
    return Verdict::Ends;
  }
  if (!final_ && text.size() - gap.end < kMarkBytes &&
      (gap.line_breaks > 0 || gap.end == text.size())) {
    return Verdict::NeedsMore;
  }
  if (stop.free || (gap.line_breaks > 0 && is_list_mark(text.substr(gap.end)))) {
    return Verdict::Ends;
  }
  stop.next = gap.end;
  Utf8Step next = next_code_point(text.substr(stop.next));
  for (int openers = 0; openers < 4 && next.valid && is_opener(next.code_point); ++openers) {
    stop.next += next.bytes;
    next = next_code_point(text.substr(stop.next));
  }
  stop.next_char = next.code_point;
  stop.next_word = word_at(text, stop.next);
  const size_t ahead = stop.next + stop.next_word.size();
  // One more byte than the word: "J. K." shows its second stop.
  if (!final_ && ahead + 1 >= text.size() && stop.next_word.size() < kWordBytes) {
    return Verdict::NeedsMore;
  }
  return judge_single_stop(stop);
}

SentenceSplitter::Verdict SentenceSplitter::judge_line_break(size_t& after) const {
  const std::string_view text = buffer_;
  const Gap gap = gap_at(text, at_);
  if (gap.paragraph) {
    after = gap.end;
    return Verdict::EndsParagraph;
  }
  if (!final_ && !gap.full && text.size() - gap.end < kMarkBytes) {
    return Verdict::NeedsMore;
  }
  if (gap.end == text.size()) {
    return Verdict::EndsParagraph;
  }
  if (gap.full || is_list_mark(text.substr(gap.end))) {
    return Verdict::Ends;
  }
  const Utf8Step next = next_code_point(text.substr(gap.end));
  const bool begins = is_capital(next.code_point) || is_opener(next.code_point) ||
                      decimal_digit(next.code_point).has_value();
  if (!begins) {
    return Verdict::Goes;
  }
  if (line_is_item_) {
    return Verdict::Ends;
  }
  size_t last = at_;
  while (last > start_ && is_ascii_space(text[last - 1])) {
    --last;
  }
  const char before = last > start_ ? text[last - 1] : ' ';
  if (before == ':') {
    return Verdict::Ends;
  }
  // A full line goes on, and so does one that ends in a comma or an abbreviation.
  const bool goes_on = std::string_view(",;-.&").find(before) != std::string_view::npos ||
                       static_cast<ptrdiff_t>(at_) - line_ >= kShortLine;
  return goes_on ? Verdict::Goes : Verdict::Ends;
}

void SentenceSplitter::emit(size_t end, Sentence::Break after, std::vector<Sentence>& out) {
  const size_t last = gap_before(buffer_, start_, end);
  const size_t first = gap_at(buffer_, start_).end;
  if (first < last) {
    out.push_back({.text = buffer_.substr(first, last - first),
                   .begin = base_ + first,
                   .end = base_ + last,
                   .after = after});
  }
  start_ = end;
  at_ = std::max(at_, end);
}

// The sentence is too long: it ends behind the last comma of its second half, else at the last
// space, else before the character that is next.
void SentenceSplitter::cut(std::vector<Sentence>& out) {
  const size_t half = start_ + options_.max_bytes / 2;
  size_t space = 0;
  size_t clause = 0;
  for (size_t i = at_; i > half; --i) {
    if (!is_ascii_space(buffer_[i - 1])) {
      continue;
    }
    space = std::max(space, i);
    if (std::string_view(",;:").find(buffer_[i - 2]) != std::string_view::npos) {
      clause = i;
      break;
    }
  }
  size_t end = at_;
  if (clause > 0 || space > 0) {
    end = clause > 0 ? clause : space;
  }
  const size_t looked = at_;
  emit(end, Sentence::Break::Sentence, out);
  at_ = looked;
}

void SentenceSplitter::forget() {
  if (start_ * 2 <= buffer_.size() && start_ < 4096) {
    return;
  }
  buffer_.erase(0, start_);
  base_ += start_;
  at_ -= start_;
  line_ -= static_cast<ptrdiff_t>(start_);
  start_ = 0;
}

std::vector<Sentence> split_sentences(std::string_view text, const SentenceOptions& options) {
  SentenceSplitter splitter(options);
  std::vector<Sentence> sentences = splitter.push(text);
  std::vector<Sentence> rest = splitter.finish();
  sentences.insert(sentences.end(), std::make_move_iterator(rest.begin()),
                   std::make_move_iterator(rest.end()));
  return sentences;
}

}  // namespace mynah
