// How much power a piece of sound has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace mynah::echo {

// The mean of the samples' squares, full scale being 1; 0 of none.
[[nodiscard]] inline double power(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) {
    sum += static_cast<double>(sample) * sample;
  }
  return sum / static_cast<double>(std::max<size_t>(1, samples.size()));
}

}  // namespace mynah::echo
