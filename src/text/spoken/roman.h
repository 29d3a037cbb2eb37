// Roman numerals as they are properly written.
#pragma once

#include <string_view>

namespace mynah {

// The value of a numeral in capitals, up to 3999; 0: it is none.
[[nodiscard]] unsigned roman_value(std::string_view numeral);

// The value of one in small letters, as prefaces' pages and scenes have them: up to 89, so that
// "mix", "dim" and "civil" are words; 0: it is none.
[[nodiscard]] unsigned small_roman_value(std::string_view numeral);

}  // namespace mynah
