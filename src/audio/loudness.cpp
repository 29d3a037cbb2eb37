#include "audio/loudness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <memory>
#include <numbers>

#include <ebur128.h>

#include "audio/resampler.h"
#include "base/check.h"

namespace mynah {
namespace {

struct Destroy {
  void operator()(ebur128_state* state) const { ebur128_destroy(&state); }
};

// ITU-R BS.1770-4, annex 2: four times the rate shows peaks to 0.6 dB, of speech to 0.1.
constexpr int kOversampling = 4;
// The gain falls and rises over so long: slower than a pitch period, faster than a syllable.
constexpr double kRamp_s = 0.006;
// What smoothing, and an encoder's rounding, may add.
constexpr double kMargin_dB = 0.2;

double to_factor(double db) {
  return std::pow(10.0, db / 20);
}

// For each sample the highest of the wave from it to the next.
std::vector<float> true_peaks(std::span<const float> samples, int rate_hz) {
  std::vector<float> wave;
  auto resampler = Resampler::create(rate_hz, kOversampling * rate_hz);
  MYNAH_CHECK(resampler.has_value() && resampler->push(samples, wave).has_value() &&
                  resampler->finish(wave).has_value(),
              "[loudness] soxr takes every rate");
  std::vector<float> peaks(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    peaks[i] = std::abs(samples[i]);
    for (size_t k = i * kOversampling; k < std::min((i + 1) * kOversampling, wave.size()); ++k) {
      peaks[i] = std::max(peaks[i], std::abs(wave[k]));
    }
  }
  return peaks;
}

// The least of all gains within `reach` samples of each.
std::vector<float> least_around(std::span<const float> gains, size_t reach) {
  std::vector<float> least(gains.size());
  std::deque<size_t> rising;  // places whose gains rise from the front on
  size_t next = 0;
  for (size_t i = 0; i < gains.size(); ++i) {
    for (; next < std::min(gains.size(), i + reach + 1); ++next) {
      while (!rising.empty() && gains[rising.back()] >= gains[next]) {
        rising.pop_back();
      }
      rising.push_back(next);
    }
    while (rising.front() + reach < i) {
      rising.pop_front();
    }
    least[i] = gains[rising.front()];
  }
  return least;
}

}  // namespace

std::optional<double> loudness_lufs(std::span<const float> samples, int rate_hz) {
  const std::unique_ptr<ebur128_state, Destroy> state(
      ebur128_init(1, static_cast<unsigned long>(rate_hz), EBUR128_MODE_I));
  MYNAH_CHECK(state != nullptr, "[loudness] libebur128 takes every rate");
  double lufs = 0;
  if (ebur128_add_frames_float(state.get(), samples.data(), samples.size()) != EBUR128_SUCCESS ||
      ebur128_loudness_global(state.get(), &lufs) != EBUR128_SUCCESS || !std::isfinite(lufs)) {
    return std::nullopt;
  }
  return lufs;
}

void limit_peaks(std::vector<float>& samples, int rate_hz, double ceiling_dbtp) {
  const auto highest = [](std::span<const float> values) {
    float most = 0;
    for (const float value : values) {
      most = std::max(most, std::abs(value));
    }
    return most;
  };
  // A wave between its samples is at most some 3 dB above them in speech: most sound needs no
  // closer look.
  constexpr double kBetweenSamples_dB = 3;
  if (highest(samples) < to_factor(ceiling_dbtp - kBetweenSamples_dB)) {
    return;
  }
  std::vector<float> gains = true_peaks(samples, rate_hz);
  if (highest(gains) <= to_factor(ceiling_dbtp)) {
    return;
  }
  const auto aim = static_cast<float>(to_factor(ceiling_dbtp - kMargin_dB));
  for (float& gain : gains) {
    gain = gain > aim ? aim / gain : 1.0F;
  }
  // The least around each sample, averaged over the same reach: at a peak it is the peak's own
  // gain.
  const auto reach = static_cast<size_t>(std::lround(kRamp_s * rate_hz / 2));
  const std::vector<float> least = least_around(gains, reach);
  std::vector<double> window(2 * reach + 1);
  double sum = 0;
  for (size_t i = 0; i < window.size(); ++i) {
    const double phase = static_cast<double>(i + 1) / static_cast<double>(window.size() + 1);
    sum += window[i] = 1 - std::cos(2 * std::numbers::pi * phase);
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    double gain = 0;
    for (size_t k = 0; k < window.size(); ++k) {
      const size_t at = std::min(i + k - std::min(i + k, reach), least.size() - 1);
      gain += window[k] * least[at];
    }
    if (gain < sum * (1 - 1e-9)) {
      samples[i] *= static_cast<float>(gain / sum);
    }
  }
}

}  // namespace mynah
