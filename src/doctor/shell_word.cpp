#include "doctor/shell_word.h"

#include <algorithm>

#include "doctor/characters.h"

namespace mynah::doctor {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "._/+:@%,-";
  const bool plain = std::ranges::all_of(text, [&](char c) {
    return is_digit(c) || is_small_letter(small_letter(c)) || kPlain.find(c) != kPlain.npos;
  });
  if (plain && !text.empty()) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace mynah::doctor
