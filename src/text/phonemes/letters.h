// What Python's str says about letters and their case: the rules of English were written in its
// terms (hibari-tts 0.2.1, g2p). ASCII is answered without a look into Unicode's tables.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.h"

namespace mynah {

// str.isalpha of one character: the categories L*.
[[nodiscard]] bool is_alphabetic(char32_t c);
// str.isalpha of a text: false for an empty one.
[[nodiscard]] bool is_alphabetic(std::u32string_view text);

// re's [^\W\d_]: a letter, or a number that is no decimal digit (a half, a Roman numeral).
[[nodiscard]] bool is_word_letter(char32_t c);
// re's \d: a decimal digit of any script.
[[nodiscard]] bool is_any_digit(char32_t c);

// str.isdigit of one character: these, and digits that are raised, circled or the like.
[[nodiscard]] bool has_digit_value(char32_t c);

// The ranges that spaCy's rules call lower and upper case: ASCII and Latin-1.
[[nodiscard]] constexpr bool is_latin_lower(char32_t c) {
  return is_ascii_lower(c) || (c >= U'\u00DF' && c <= U'\u00F6') ||
         (c >= U'\u00F8' && c <= U'\u00FF');
}

[[nodiscard]] constexpr bool is_latin_upper(char32_t c) {
  return is_ascii_upper(c) || (c >= U'\u00C0' && c <= U'\u00D6') ||
         (c >= U'\u00D8' && c <= U'\u00DE');
}

// The apostrophe and both single quotation marks.
[[nodiscard]] constexpr bool is_apostrophe(char32_t c) {
  return c == U'\'' || c == U'\u2018' || c == U'\u2019';
}

// str.islower, str.isupper: at least one cased letter, and none of the other case.
[[nodiscard]] bool is_lower(std::u32string_view text);
[[nodiscard]] bool is_upper(std::u32string_view text);

// str.lower, str.upper, str.capitalize. Of the letters whose capital is two letters, upper() knows
// the German sharp s.
[[nodiscard]] std::u32string lower(std::u32string_view text);
[[nodiscard]] std::u32string upper(std::u32string_view text);
[[nodiscard]] std::u32string capitalized(std::u32string_view text);

// The word as a keyboard without accents has it: "Zurich" for "Z\u00FCrich", "Lodz", "Strasse".
[[nodiscard]] std::u32string without_marks(std::u32string_view text);

// text == lower(text), text == upper(text): true where there is no case at all.
[[nodiscard]] bool has_no_capitals(std::u32string_view text);
[[nodiscard]] bool has_no_small_letters(std::u32string_view text);

}  // namespace mynah
