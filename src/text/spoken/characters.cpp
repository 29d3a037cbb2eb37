#include "text/spoken/characters.h"

#include <algorithm>
#include <string>

#include "text/spoken/among.h"
#include "text/unicode.h"

namespace mynah {
bool is_vowel_letter(char c) {
  return std::string_view("aeiouyAEIOUY").find(c) != std::string_view::npos;
}

bool is_all_capitals(std::string_view word) {
  return word.size() > 1 && std::ranges::all_of(word, is_ascii_upper);
}

bool is_spaced_stop(char32_t c) {
  return among(U".!?\u2026\u203C\u203D\u2047\u2048\u2049", c);
}

bool is_free_stop(char32_t c) {
  // Full width . ! ?, ideographic, halfwidth; Arabic ? and Urdu stop; dandas; Armenian, Ethiopic,
  // Burmese, Khmer. Greek's ";" is left out: it is the semicolon of everybody else.
  return among(
      U"\u3002\uFF01\uFF1F\uFF0E\uFF61\u061F\u06D4\u0964\u0965\u0589\u1362\u1367\u104B\u17D4\u17D5",
      c);
}

bool is_closer(char32_t c) {
  return among(
      U"\"')]}\u201D\u2019\u00BB\u203A\u300D\u300F\u3011\u3015\u3009\u300B\uFF09\uFF3D\uFF5D\uFF63",
      c);
}

bool is_opener(char32_t c) {
  return among(
      U"\"'([{\u201C\u2018\u201E\u201A\u00AB\u2039\u300C\u300E\u3010\u3014\u3008\u300A\uFF08\uFF3B"
      U"\uFF5B\uFF62\u00BF\u00A1",
      c);
}

bool is_lower_case(char32_t c) {
  if (c < 0x80) {
    return is_ascii_lower(static_cast<char>(c));
  }
  return is_letter(c) && to_lower(std::u32string(1, c)) == std::u32string(1, c) &&
         is_cased_letter(c);
}

bool is_capital(char32_t c) {
  if (c < 0x80) {
    return is_ascii_upper(static_cast<char>(c));
  }
  return is_letter(c) && !is_lower_case(c);
}

}  // namespace mynah
