#include "nn/mel_filters.h"

#include <algorithm>
#include <cmath>

namespace mynah {
namespace {

// Slaney's Auditory Toolbox (1998): linear below 1 kHz, where a mel is 200/3 Hz, logarithmic above
// with 27 mels to a factor of 6.4.
constexpr double kHzPerMel = 200.0 / 3.0;
constexpr double kCorner_hz = 1000.0;
constexpr double kCorner_mel = kCorner_hz / kHzPerMel;

double mel_of_hz(double hz) {
  const double step = std::log(6.4) / 27.0;
  return hz < kCorner_hz ? hz / kHzPerMel : kCorner_mel + std::log(hz / kCorner_hz) / step;
}

double hz_of_mel(double mel) {
  const double step = std::log(6.4) / 27.0;
  return mel < kCorner_mel ? mel * kHzPerMel : kCorner_hz * std::exp(step * (mel - kCorner_mel));
}

}  // namespace

std::vector<float> mel_filters(int64_t n_mels) {
  const int64_t bins = kMelFft / 2 + 1;
  const double top_mel = mel_of_hz(static_cast<double>(kMelRate_hz) / 2);
  const auto corner = [&](int64_t i) {
    return hz_of_mel(top_mel * static_cast<double>(i) / static_cast<double>(n_mels + 1));
  };
  std::vector<float> filters;
  filters.reserve(static_cast<size_t>(n_mels * bins));
  for (int64_t m = 0; m < n_mels; ++m) {
    const double left = corner(m);
    const double peak = corner(m + 1);
    const double right = corner(m + 2);
    for (int64_t bin = 0; bin < bins; ++bin) {
      const double hz = static_cast<double>(bin * kMelRate_hz) / static_cast<double>(kMelFft);
      const double height = std::min((hz - left) / (peak - left), (right - hz) / (right - peak));
      filters.push_back(static_cast<float>(std::max(0.0, height) * 2.0 / (right - left)));
    }
  }
  return filters;
}

}  // namespace mynah
