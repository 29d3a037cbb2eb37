#include "base/rounded.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace mynah {

double rounded_ms(double ms) {
  return std::round(ms * 1e3) / 1e3;
}

double rounded_ratio(double ratio) {
  // By its text, whose number is the nearest that there is: a quotient may be the one beside it.
  return std::strtod(fmt::format("{:.3g}", ratio).c_str(), nullptr);
}

}  // namespace mynah
