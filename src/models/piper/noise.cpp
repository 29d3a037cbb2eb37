#include "models/piper/noise.h"

#include <cmath>

namespace mynah::piper {

namespace {

// SplitMix64 (Steele, Lea and Flood 2014, Fast Splittable Pseudorandom Number Generators).
uint64_t next_bits(uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// In (-1, 1).
double next_uniform(uint64_t& state) {
  constexpr double kStep = 1.0 / static_cast<double>(uint64_t{1} << 52U);
  return (static_cast<double>(next_bits(state) >> 11U) + 0.5) * kStep - 1.0;
}

}  // namespace

// Two at a time by the polar method (Marsaglia and Bray 1964, A Convenient Method for Generating
// Normal Variables).
std::vector<float> Noise::next(size_t count, float scale) {
  std::vector<float> numbers(count);
  if (scale == 0.0F) {
    return numbers;
  }
  for (size_t i = 0; i < count; i += 2) {
    double x = 0.0;
    double y = 0.0;
    double square = 0.0;
    do {
      x = next_uniform(state_);
      y = next_uniform(state_);
      square = x * x + y * y;
    } while (square >= 1.0);
    const double factor = static_cast<double>(scale) * std::sqrt(-2.0 * std::log(square) / square);
    numbers[i] = static_cast<float>(x * factor);
    if (i + 1 < count) {
      numbers[i + 1] = static_cast<float>(y * factor);
    }
  }
  return numbers;
}

}  // namespace mynah::piper
