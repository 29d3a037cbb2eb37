// Signals of the tests of echo: speech-like noise, rooms and clocks, each from a stated seed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "audio/echo/fourier.h"
#include "audio/echo/played_sound.h"

namespace mynah::echo {

// Noise with the spectrum of speech, more or less (a pole at 0.9), in syllables of 4 a second, of
// a root mean square of 0.05.
inline std::vector<float> syllables(double seconds, int rate_hz, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> samples(static_cast<size_t>(seconds * rate_hz));
  float last = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    last = 0.9F * last + 0.44F * normal(random);
    const double time_s = static_cast<double>(i) / rate_hz;
    const double loud = std::pow(std::sin(3.14159265 * 4 * time_s), 2);
    samples[i] = 0.08F * static_cast<float>(loud) * last;
  }
  return samples;
}

// A room: a direct path and a tail that falls by 60 dB in `rt60_s`.
inline std::vector<float> room(double rt60_s, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> taps(static_cast<size_t>(rt60_s * 16000));
  for (size_t i = 0; i < taps.size(); ++i) {
    taps[i] = 0.04F * normal(random) *
              static_cast<float>(std::pow(10.0, -3.0 * static_cast<double>(i) / 16000 / rt60_s));
  }
  taps[0] = 0.5F;
  return taps;
}

// The whole at once, as many samples as came.
inline std::vector<float> convolved(std::span<const float> samples, std::span<const float> taps) {
  const Fourier fourier(std::bit_ceil(samples.size() + taps.size()));
  std::vector<float> padded(fourier.size());
  std::vector<std::complex<float>> bins(fourier.bins());
  std::vector<std::complex<float>> tap_bins(fourier.bins());
  std::copy(samples.begin(), samples.end(), padded.begin());
  fourier.forward(padded, bins);
  std::fill(padded.begin(), padded.end(), 0.0F);
  std::copy(taps.begin(), taps.end(), padded.begin());
  fourier.forward(padded, tap_bins);
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    bins[bin] *= tap_bins[bin] / static_cast<float>(fourier.size());
  }
  fourier.inverse(bins, padded);
  padded.resize(samples.size());
  return padded;
}

// What a microphone at 16 kHz hears of `played`: `delay` samples of 16 kHz later, by a clock that
// is `drift_ppm` away, in a room.
inline std::vector<float> echo_of(std::span<const float> played, int rate_hz, double delay,
                                  double drift_ppm, std::span<const float> taps) {
  const double ratio = rate_hz / 16000.0;
  PlayedSound source(rate_hz, ratio, static_cast<double>(played.size()) / rate_hz + 1);
  source.push(played);
  const auto count = static_cast<size_t>(static_cast<double>(played.size()) / ratio);
  std::vector<float> dry(count);
  for (size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i);
    dry[i] = source.at((at - delay - drift_ppm * 1e-6 * at) * ratio);
  }
  return convolved(dry, taps);
}

inline double power_of(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) {
    sum += static_cast<double>(sample) * sample;
  }
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace mynah::echo
