#include "audio/sinc_reader.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mynah {
namespace {

// Positions between two samples that weights are made for; between these they are drawn straight,
// which is wrong by less than 1 / (8 * 256^2) of the highest frequency's curvature: -90 dB.
constexpr size_t kPhases = 256;

// Zero crossings of the sinc to either side.
constexpr double kCrossings = 16;

constexpr double kKaiserBeta = 9;

// Of half the lower rate. The window's edge is 5 % wide at this length: what is above is let in
// there, and turned down.
constexpr double kPassed = 0.95;

double kaiser(double x) {
  return x * x >= 1 ? 0
                    : std::cyl_bessel_i(0, kKaiserBeta * std::sqrt(1 - x * x)) /
                          std::cyl_bessel_i(0, kKaiserBeta);
}

}  // namespace

SincReader::SincReader(double in_hz, double out_hz)
    : reach_(static_cast<int64_t>(std::ceil(kCrossings * std::max(1.0, in_hz / out_hz)))) {
  const double pass = kPassed * std::min(1.0, out_hz / in_hz);
  const auto taps = static_cast<size_t>(2 * reach_);
  weights_.resize((kPhases + 1) * taps);
  for (size_t phase = 0; phase <= kPhases; ++phase) {
    float* row = weights_.data() + phase * taps;
    for (size_t tap = 0; tap < taps; ++tap) {
      // Tap reach_ - 1 is the sample at or before the position.
      const double x = static_cast<double>(tap) - static_cast<double>(reach_ - 1) -
                       static_cast<double>(phase) / kPhases;
      const double angle = std::numbers::pi * pass * x;
      const double sinc = std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
      row[tap] = static_cast<float>(pass * sinc * kaiser(x / static_cast<double>(reach_)));
    }
  }
}

SincReader::Taps SincReader::taps(double position) const {
  const double floor = std::floor(position);
  const double place = (position - floor) * kPhases;
  const auto phase = static_cast<size_t>(place);
  const auto taps = static_cast<size_t>(2 * reach_);
  const float* row = weights_.data() + phase * taps;
  return {.first = static_cast<int64_t>(floor) - (reach_ - 1),
          .lower = {row, taps},
          .upper = {row + taps, taps},
          .part = static_cast<float>(place - static_cast<double>(phase))};
}

void SincReader::read(double first, double step, const std::function<float(int64_t)>& at,
                      std::span<float> out) const {
  for (size_t n = 0; n < out.size(); ++n) {
    const Taps taps = this->taps(first + step * static_cast<double>(n));
    float lower = 0;
    float upper = 0;
    for (size_t tap = 0; tap < taps.lower.size(); ++tap) {
      const float sample = at(taps.first + static_cast<int64_t>(tap));
      lower += taps.lower[tap] * sample;
      upper += taps.upper[tap] * sample;
    }
    out[n] = lower + taps.part * (upper - lower);
  }
}

}  // namespace mynah
