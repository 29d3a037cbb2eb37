// Numbers as a language writes them, and what stands around them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/spoken/languages/language_numbers.h"

namespace mynah {

struct WrittenNumber {
  size_t end = 0;  // one past its last byte
  uint64_t value = 0;
  std::string digits;    // without signs
  std::string fraction;  // digits behind the decimal sign; empty: none
  bool grouped = false;  // "1.250"
  bool point = false;    // a decimal point where the language has a comma

  [[nodiscard]] bool is_whole() const { return fraction.empty() && !point; }
};

// The number that begins at `at` with a digit: groups of three by the language's signs, decimals by
// its sign. None where it goes on like no number ("1.2.3", "10.0.0.1") or has more than 18 digits.
[[nodiscard]] std::optional<WrittenNumber> scan_number(std::string_view text, size_t at,
                                                       const LanguageNumbers& language);

// Up to `most` digits from `at` on, and no more behind them; empty: there are none, or more.
[[nodiscard]] std::string_view digits_at(std::string_view text, size_t at, size_t most);

// The letters that begin at `at`, with marks; apostrophes and dots end them.
[[nodiscard]] std::string_view letters_at(std::string_view text, size_t at);

// What stands behind spaces at `at`: letters, or nothing.
[[nodiscard]] std::string_view word_behind(std::string_view text, size_t at);

// The letters before `at`, with spaces or none between.
[[nodiscard]] std::string_view word_before(std::string_view text, size_t at);

// Behind the spaces at `at` (one or two, not a line's end).
[[nodiscard]] size_t skip_spaces(std::string_view text, size_t at);

// Whether neither a letter nor a digit stands at `at`.
[[nodiscard]] bool is_border(std::string_view text, size_t at);

// The same of the character that ends before `at`.
[[nodiscard]] bool is_border_before(std::string_view text, size_t at);

// In small letters.
[[nodiscard]] std::string folded(std::string_view word);

// Whether a sign of `length` bytes at `at` is whole: no letter follows its last.
[[nodiscard]] bool ends_key(std::string_view text, size_t at, size_t length);

// The longest key of a map that stands at `at`, whole: its length in bytes, or 0.
template <class Map>
[[nodiscard]] size_t longest_key(std::string_view text, size_t at, const Map& map) {
  constexpr size_t kLongestKey = 40;
  at = std::min(at, text.size());
  for (size_t length = std::min(text.size() - at, kLongestKey); length > 0; --length) {
    if (map.find(text.substr(at, length)) != map.end() && ends_key(text, at, length)) {
      return length;
    }
  }
  return 0;
}

}  // namespace mynah
