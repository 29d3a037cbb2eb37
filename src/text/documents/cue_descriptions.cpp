#include "text/documents/cue_descriptions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/documents/document_words.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// More is what somebody says, or a bracket that nobody closed.
constexpr size_t kMostBytes = 200;
constexpr size_t kMostName = 40;

struct Brackets {
  std::string_view open;
  std::string_view close;
  bool square = false;  // nothing in them is said
};

constexpr auto kBrackets = std::to_array<Brackets>({{"[", "]", true},
                                                    {"\u3010", "\u3011", true},
                                                    {"\uFF3B", "\uFF3D", true},
                                                    {"(", ")", false},
                                                    {"\uFF08", "\uFF09", false}});

// Letters of a text: none small, and two at least.
bool is_in_capitals(std::string_view text) {
  size_t letters = 0;
  for (const char32_t c : to_code_points(text)) {
    const bool letter = is_letter(c);
    if (letter && to_lower(std::u32string(1, c))[0] == c) {
      return false;
    }
    letters += letter ? 1 : 0;
  }
  return letters > 1;
}

bool is_sentence(std::string_view text) {
  return !text.empty() && std::string_view(".!?").contains(text.back()) && !is_in_capitals(text) &&
         std::ranges::count(text, ' ') > 1;
}

// The begin of the line that a place is in: nothing but dashes, ">>" and spaces stand before it.
bool begins_line(std::string_view text, size_t at) {
  while (at > 0 && text[at - 1] != '\n') {
    if (!std::string_view("- >").contains(text[--at])) {
      return false;
    }
  }
  return true;
}

// Takes out brackets and what is in them, across lines of the cue.
void take_brackets(std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const auto* const pair = std::ranges::find_if(
        kBrackets, [rest](const Brackets& one) { return rest.starts_with(one.open); });
    const size_t close = pair == kBrackets.end()
                             ? std::string_view::npos
                             : rest.substr(0, kMostBytes).find(pair->close, pair->open.size());
    if (close == std::string_view::npos) {
      ++at;
      continue;
    }
    const std::string_view inner = rest.substr(pair->open.size(), close - pair->open.size());
    const bool description =
        pair->square || is_in_capitals(inner) || (begins_line(text, at) && !is_sentence(inner));
    if (!description) {
      at += close;
      continue;
    }
    const std::string between = inner.contains('\n') ? "\n" : "";
    size_t end = at + close + pair->close.size();
    // "[MAN]: Stop", but not "DR. SMITH (on radio): Stop".
    const bool first = begins_line(text, at);
    while (end < text.size() && (text[end] == ' ' || (first && text[end] == ':'))) {
      ++end;
    }
    text.replace(at, end - at, between);
  }
}

// The bytes of ">> " and of a name with its colon that a line begins with, behind its dash.
size_t speaker_length(std::string_view line) {
  const bool told = line.starts_with(">>");
  const size_t at = told ? std::min(line.find_first_not_of("> "), line.size()) : 0;
  const std::string_view rest = line.substr(at);
  const size_t colon = rest.substr(0, kMostName).find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      (colon + 1 < rest.size() && rest[colon + 1] != ' ')) {
    return at;
  }
  const std::string_view name = rest.substr(0, colon);
  // "McCOY", "DR. SMITH", "MAN #2".
  const std::string_view plain = name.starts_with("Mc") ? name.substr(2) : name;
  constexpr int kMostSpaces = 3;
  const bool is_name = name.find_first_of(",;!?\"()[]") == std::string_view::npos &&
                       std::ranges::count(name, ' ') <= kMostSpaces &&
                       (told || is_in_capitals(plain)) &&
                       !is_document_word(DocumentWord::NoSpeaker, name);
  return is_name ? at + std::min(rest.find_first_not_of(' ', colon + 1), rest.size()) : at;
}

std::string without_speakers(std::string_view text) {
  std::string kept;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line(text.substr(at, end - at));
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    const size_t dash = std::min(line.find_first_not_of("- "), line.size());
    line.erase(dash, speaker_length(std::string_view(line).substr(dash)));
    kept += (at == 0 ? "" : "\n") + line;
    at = end + 1;
  }
  return kept;
}

bool is_said(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.find_first_not_of("- "), line.size()));
  const bool sound = text.size() > 2 && text.size() < kMostBytes && text.starts_with('*') &&
                     text.find('*', 1) == text.size() - 1;
  return !sound && text.find_first_not_of("-. ") != std::string_view::npos;
}

}  // namespace

void take_descriptions(std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  // Either may stand before the other: "[ON RADIO] MAN: (sighs) No."
  constexpr int kMostRounds = 3;
  for (int i = 0; i < kMostRounds; ++i) {
    text = without_speakers(text);
    take_brackets(text);
  }
  lines.clear();
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    while (line.ends_with(' ')) {
      line.pop_back();
    }
    lines.push_back(is_said(line) ? line : std::string());
  }
}

}  // namespace mynah
