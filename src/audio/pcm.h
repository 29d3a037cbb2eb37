// Samples as 16-bit integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mynah {

// Nearest, ties to even, 1 is 32768; cut off at the ends of the range. What is no number is
// silence.
[[nodiscard]] inline int16_t to_s16(float sample) {
  if (std::isnan(sample)) {
    return 0;
  }
  return static_cast<int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

}  // namespace mynah
