// Which characters end a sentence, close behind its end, and separate.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace mynah {

// A letter of any script, as far as bytes tell (all of UTF-8's leading and following ones count),
// or a digit.
inline bool is_word_byte(char c) {
  return is_ascii_alnum(c) || static_cast<unsigned char>(c) >= 0x80;
}

// A vowel's letter; "y" counts, as it makes a word sayable ("by", "rhythm").
[[nodiscard]] bool is_vowel_letter(char c);

// Two ASCII letters or more, all capitals.
[[nodiscard]] bool is_all_capitals(std::string_view word);

// Whether the word begins with an ASCII capital.
[[nodiscard]] inline bool is_capitalised(std::string_view word) {
  return !word.empty() && is_ascii_upper(word[0]);
}

// The same, and its second letter is none: "Smith", "A".
[[nodiscard]] inline bool is_title_case(std::string_view word) {
  return is_capitalised(word) && (word.size() == 1 || !is_ascii_upper(word[1]));
}

// Stops that end a sentence only with a space behind them: . ! ? and the ellipsis.
[[nodiscard]] bool is_spaced_stop(char32_t c);

// Stops that need none: the full-width ones, Devanagari's danda, Arabic's and others'.
[[nodiscard]] bool is_free_stop(char32_t c);

// Quotes and brackets that close.
[[nodiscard]] bool is_closer(char32_t c);

// Quotes and brackets that open.
[[nodiscard]] bool is_opener(char32_t c);

// Whether the code point begins a word of a sentence in capitals or without case: upper or title
// case, or a letter of a script that has no case.
[[nodiscard]] bool is_capital(char32_t c);

[[nodiscard]] bool is_lower_case(char32_t c);

}  // namespace mynah
