#include "speech/probe.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mynah {

std::vector<float> probe_sound(size_t samples) {
  constexpr double kProbeRate_hz = 16000;
  constexpr double kTwoPi = 2 * std::numbers::pi;
  constexpr int kOvertones = 12;
  std::vector<float> sound(samples);
  double phase = 0;
  for (size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / kProbeRate_hz;
    // A man's pitch that falls and rises, four syllables a second.
    const double pitch_hz = 120 + 25 * std::sin(kTwoPi * 0.7 * t);
    phase += kTwoPi * pitch_hz / kProbeRate_hz;
    const double loudness = 0.1 + 0.1 * std::sin(kTwoPi * 4 * t);
    double value = 0;
    for (int k = 1; k <= kOvertones; ++k) {
      value += std::sin(k * phase) / k;
    }
    sound[i] = static_cast<float>(loudness * value);
  }
  return sound;
}

std::vector<float> spread_values(const std::vector<float>& values, size_t count) {
  if (values.size() <= count) {
    return values;
  }
  std::vector<float> some;
  some.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    some.push_back(values[i * values.size() / count]);
  }
  return some;
}

}  // namespace mynah
