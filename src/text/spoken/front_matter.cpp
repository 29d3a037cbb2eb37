#include "text/spoken/front_matter.h"

#include <algorithm>

#include "base/ascii.h"
#include "text/spoken/markup_marks.h"

namespace mynah {
namespace {

constexpr size_t kMostBytes = 8192;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// "key:" or "key: value"; the key.
std::string_view key_of(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      (colon + 1 < line.size() && line[colon + 1] != ' ')) {
    return {};
  }
  const std::string_view key = line.substr(0, colon);
  const bool plain = std::ranges::all_of(key, [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '-' || c == '.';
  });
  return plain ? key : std::string_view{};
}

// Without quotes, and without a comment behind it.
std::string value_of(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'') &&
      text.find(text[0], 1) != std::string_view::npos) {
    return std::string(text.substr(1, text.find(text[0], 1) - 1));
  }
  const bool block = text.starts_with('|') || text.starts_with('>') || text.starts_with('[') ||
                     text.starts_with('{');
  return block ? std::string() : std::string(trimmed(text.substr(0, text.find(" #"))));
}

void take_fact(std::string_view line, FrontMatter& facts) {
  const std::string_view key = key_of(line);
  std::string* const field = key == "title"                       ? &facts.title
                             : key == "author"                    ? &facts.author
                             : key == "lang" || key == "language" ? &facts.language
                                                                  : nullptr;
  if (field != nullptr && field->empty()) {
    *field = value_of(line.substr(key.size() + 1));
  }
}

}  // namespace

FrontMatter read_front_matter(std::string_view text, bool whole) {
  using State = FrontMatter::State;
  FrontMatter facts;
  constexpr std::string_view kFence = "---";
  const size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::string_view head = text.substr(begin, kFence.size());
  const bool more = !whole && text.size() < kMostBytes;
  if (head != kFence) {
    const bool begun =
        kFence.starts_with(head) || (begin == 0 && kByteOrderMark.starts_with(text.substr(0, 3)));
    facts.state = more && begun ? State::NeedsMore : State::None;
    return facts;
  }
  bool first = true;
  for (size_t at = begin, line_number = 0; at < text.size(); ++line_number) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos && !whole) {
      break;
    }
    const std::string_view raw = text.substr(at, end == std::string_view::npos ? end : end - at);
    const std::string_view line = raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw;
    at = end == std::string_view::npos ? text.size() : end + 1;
    if (at > kMostBytes) {
      return {};
    }
    const std::string_view content = trimmed(line);
    if (line_number == 0) {
      if (content != kFence) {
        return {};
      }
      continue;
    }
    if (content == kFence || content == "...") {
      if (first) {
        return {};
      }
      facts.state = State::Whole;
      facts.bytes = at;
      return facts;
    }
    if (line_number == 1 && content.empty()) {
      return {};
    }
    if (content.empty() || content.starts_with('#')) {
      continue;
    }
    // What is no fact on its first line is prose behind a line across the page.
    if (first && key_of(line).empty()) {
      return {};
    }
    first = false;
    take_fact(line, facts);
  }
  FrontMatter open;
  open.state = more ? State::NeedsMore : State::None;
  return open;
}

}  // namespace mynah
