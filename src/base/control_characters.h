// Control characters in text from outside, which could move a terminal's cursor, change its title
// or write its clipboard.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

// How many bytes the control character at `at` has (Unicode's class Cc: U+0000 to U+001F and U+007F
// to U+009F, some terminals taking those last ones for escape sequences); 0: it is none.
[[nodiscard]] constexpr size_t control_length(std::string_view text, size_t at) {
  constexpr unsigned char kDelete = 0x7F;
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < ' ' || byte == kDelete) {
    return 1;
  }
  // U+0080 to U+009F: C2 80 to C2 9F in UTF-8.
  const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : '\0');
  return byte == 0xC2 && next >= 0x80 && next < 0xA0 ? 2 : 0;
}

}  // namespace mynah
