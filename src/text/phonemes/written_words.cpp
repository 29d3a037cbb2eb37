#include "text/phonemes/written_words.h"

#include "base/ascii.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Quotes and dashes that people type, as the typewriter has them.
std::string_view plain(char32_t character) {
  switch (character) {
    case U'\u2018':
    case U'\u2019':
      return "'";
    case U'\u201C':
    case U'\u201D':
      return "\"";
    case U'\u2013':
    case U'\u2014':
      return "-";
    case U'\u2026':
      return "...";
    default:
      return "";
  }
}

std::string to_ascii(std::string_view text) {
  std::string ascii;
  for (const char32_t character : nfkd(to_code_points(text))) {
    if (character > U' ' && character < 0x7F) {
      ascii += static_cast<char>(character);
    } else {
      ascii += plain(character);
    }
  }
  return ascii;
}

}  // namespace

Result<std::vector<PhonemeWord>> WrittenWords::phonemes(
    std::string_view text, std::span<const GivenPhonemes> /*given*/) const {
  std::vector<PhonemeWord> words;
  for (size_t at = 0; at < text.size();) {
    if (is_ascii_space(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && !is_ascii_space(text[at])) {
      ++at;
    }
    const std::string_view word = text.substr(begin, at - begin);
    words.push_back({.text = std::string(word),
                     .phonemes = letters_ == Letters::Ascii ? to_ascii(word) : std::string(word),
                     .space_after = at < text.size(),
                     .begin = begin,
                     .end = at});
  }
  return words;
}

}  // namespace mynah
