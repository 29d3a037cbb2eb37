// Tables of words, and sets of characters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mynah {

// Whether a word is one of a table's.
template <size_t n>
[[nodiscard]] constexpr bool among(const std::array<std::string_view, n>& words,
                                   std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Whether a character is one of a set.
[[nodiscard]] constexpr bool among(std::u32string_view set, char32_t c) {
  return set.find(c) != std::u32string_view::npos;
}

}  // namespace mynah
