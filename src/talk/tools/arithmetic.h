// Arithmetic as people write it, computed exactly where that is possible: "19.99 * 3 + 20% * 50".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::talk {

// Beyond these an expression is refused: no text makes it compute long.
inline constexpr size_t kMostExpressionBytes = 1000;
inline constexpr int kMostExpressionDepth = 64;
inline constexpr unsigned kMostNumberBits = 8192;  // of a numerator or denominator

// What an expression is: "59.97" where that is all of it, "1/3, about 0.333333333333333" for what
// has no end, "about 1.4142135623731" for what no fraction is. It knows + - * / ^ ! ( ), a percent
// sign behind a number (a hundredth), × ÷ − and ·, the numbers pi and e, and sqrt, abs, round (to
// so many places), floor, ceil, min, max, mod, gcd, exp, ln, log (of ten), sin, cos, tan (of
// radians). InvalidInput, with the place, for what is none, divides by zero or becomes too large.
[[nodiscard]] Result<std::string> compute(std::string_view expression);

}  // namespace mynah::talk
