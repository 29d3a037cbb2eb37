#include "nn/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mynah {

std::vector<double> rotary_frequencies(double base, int64_t dimensions) {
  std::vector<double> frequencies(static_cast<size_t>(dimensions / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] =
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dimensions));
  }
  return frequencies;
}

std::vector<double> yarn_frequencies(double base, int64_t dimensions, const Yarn& yarn) {
  const auto width = static_cast<double>(dimensions);
  // Of the pair that turns so many times in the context that was trained.
  const auto pair_of = [&](double turns) {
    return width * std::log(yarn.original_context / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(base));
  };
  const double low = std::max(0.0, std::floor(pair_of(yarn.fast)));
  const double high = std::min(width - 1.0, std::ceil(pair_of(yarn.slow)));
  constexpr double kLeastRamp = 0.001;  // jquesnelle/yarn LlamaYaRNScaledRotaryEmbedding.py
  std::vector<double> frequencies = rotary_frequencies(base, dimensions);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double slowed =
        std::clamp((static_cast<double>(i) - low) / std::max(kLeastRamp, high - low), 0.0, 1.0);
    frequencies[i] *= 1.0 - slowed + slowed / yarn.factor;
  }
  return frequencies;
}

float yarn_magnitude(double factor, double weight) {
  return static_cast<float>(factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0);
}

Tensor rotations(Backend& backend, const Rotary& rotary, std::span<const int32_t> positions,
                 std::span<const float> scales) {
  const size_t pairs = rotary.frequencies.size();
  std::vector<float> turns(positions.size() * 2 * pairs);
  float* to = turns.data();
  for (size_t row = 0; row < positions.size(); ++row) {
    const float magnitude = rotary.magnitude * (scales.empty() ? 1.0F : scales[row]);
    for (size_t i = 0; i < pairs; ++i) {
      const double angle = positions[row] * rotary.frequencies[i];
      to[i] = static_cast<float>(magnitude * std::cos(angle));
      to[pairs + i] = static_cast<float>(magnitude * std::sin(angle));
    }
    to += 2 * pairs;
  }
  return ops::from_host(backend, std::span<const float>(turns),
                        {std::ssize(positions), 2 * static_cast<int64_t>(pairs)});
}

}  // namespace mynah
