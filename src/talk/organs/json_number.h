// Numbers as they are sent.
#pragma once

#include <cmath>

namespace mynah::talk {

// As people write it: 0.7 and not the double that its float is.
[[nodiscard]] inline double as_written(float value) {
  constexpr double kDigits = 1e6;
  return std::round(static_cast<double>(value) * kDigits) / kDigits;
}

}  // namespace mynah::talk
