#include "audio/echo/played_sound.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mynah::echo {

namespace {

// Positions between two samples that weights are made for; between these they are drawn straight,
// which is wrong by less than 1 / (8 * 256^2) of the highest frequency's curvature: -90 dB.
constexpr size_t kPhases = 256;

// Zero crossings of the sinc to either side.
constexpr double kCrossings = 16;

constexpr double kKaiserBeta = 9;

double kaiser(double x) {
  return x * x >= 1 ? 0
                    : std::cyl_bessel_i(0, kKaiserBeta * std::sqrt(1 - x * x)) /
                          std::cyl_bessel_i(0, kKaiserBeta);
}

}  // namespace

PlayedSound::PlayedSound(int rate_hz, double ratio, double seconds)
    : half_width_(static_cast<int64_t>(std::ceil(kCrossings * std::max(1.0, ratio)))),
      ring_(static_cast<size_t>(std::ceil(rate_hz * seconds)) +
            2 * static_cast<size_t>(half_width_)) {
  // The window's edge is 5 % wide at this length: what is above half of the lower rate is let in
  // there, and turned down.
  const double pass = 0.95 / std::max(1.0, ratio);
  const auto taps = static_cast<size_t>(2 * half_width_);
  weights_.resize((kPhases + 1) * taps);
  for (size_t phase = 0; phase <= kPhases; ++phase) {
    float* row = weights_.data() + phase * taps;
    for (size_t tap = 0; tap < taps; ++tap) {
      // Tap half_width_ - 1 is the sample at or before the position.
      const double x = static_cast<double>(tap) - static_cast<double>(half_width_ - 1) -
                       static_cast<double>(phase) / kPhases;
      const double angle = std::numbers::pi * pass * x;
      const double sinc = std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
      row[tap] = static_cast<float>(pass * sinc * kaiser(x / static_cast<double>(half_width_)));
    }
  }
}

void PlayedSound::push(std::span<const float> samples) {
  for (const float sample : samples) {
    ring_[static_cast<size_t>(written_) % ring_.size()] = sample;
    ++written_;
  }
}

float PlayedSound::at(double position) const {
  const double floor = std::floor(position);
  const auto first = static_cast<int64_t>(floor) - (half_width_ - 1);
  const auto size = static_cast<int64_t>(ring_.size());
  const auto taps = 2 * half_width_;
  if (first + taps <= 0 || first >= written_ || first < written_ - size) {
    return 0;
  }
  const double place = (position - floor) * kPhases;
  const auto phase = static_cast<size_t>(place);
  const auto part = static_cast<float>(place - static_cast<double>(phase));
  const float* row = weights_.data() + phase * static_cast<size_t>(taps);
  const float* next = row + taps;
  float lower = 0;
  float upper = 0;
  const int64_t begin = std::max<int64_t>(0, -first);
  const int64_t end = std::min(taps, written_ - first);
  int64_t from = (first + begin) % size;
  for (int64_t tap = begin; tap < end; ++tap) {
    const float sample = ring_[static_cast<size_t>(from)];
    lower += row[tap] * sample;
    upper += next[tap] * sample;
    from = from + 1 == size ? 0 : from + 1;
  }
  return lower + part * (upper - lower);
}

}  // namespace mynah::echo
