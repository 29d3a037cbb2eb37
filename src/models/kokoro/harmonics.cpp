#include "models/kokoro/harmonics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "models/kokoro/sizes.h"

namespace mynah::kokoro {

namespace {

constexpr float kSineAmplitude = 0.1F;
constexpr float kVoiced = 10.0F;  // Hz: below it there is no voice

// Periodic Hann.
const std::array<double, kFft>& window() {
  static const std::array<double, kFft> kWindow = [] {
    std::array<double, kFft> values{};
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / kFft);
    }
    return values;
  }();
  return kWindow;
}

// cos and sin of -2 pi i k / kFft.
struct Wave {
  double real;
  double imaginary;
};

const std::array<Wave, kFft>& waves() {
  static const std::array<Wave, kFft> kWaves = [] {
    std::array<Wave, kFft> values{};
    for (size_t i = 0; i < values.size(); ++i) {
      const double angle = -2.0 * std::numbers::pi * static_cast<double>(i) / kFft;
      values[i] = {.real = std::cos(angle), .imaginary = std::sin(angle)};
    }
    return values;
  }();
  return kWaves;
}

// Phases of one harmonic at each value of pitch, in f32 and in the order of the reference: they
// grow to many thousands, where the order of roundings is heard in the last bits of sines.
std::vector<float> phases_of(std::span<const float> pitch, int harmonic) {
  std::vector<float> phases;
  phases.reserve(pitch.size());
  float turns = 0.0F;
  for (const float hertz : pitch) {
    const float step = hertz * static_cast<float>(harmonic) / static_cast<float>(kRate);
    turns += step - std::floor(step);
    phases.push_back(turns * 2.0F * std::numbers::pi_v<float> * static_cast<float>(kPitchSamples));
  }
  return phases;
}

}  // namespace

std::vector<float> harmonic_source(std::span<const float> pitch, const HarmonicMix& mix) {
  const size_t values = pitch.size();
  std::vector<float> samples(values * kPitchSamples);
  for (int harmonic = 1; harmonic <= kHarmonics; ++harmonic) {
    const std::vector<float> phases = phases_of(pitch, harmonic);
    const float weight = mix.weights[static_cast<size_t>(harmonic - 1)];
    for (size_t i = 0; i < samples.size(); ++i) {
      if (pitch[i / kPitchSamples] <= kVoiced) {
        continue;
      }
      // Linear between the middles of the values' samples (torch.nn.functional.interpolate,
      // align_corners=False).
      const float at = std::clamp((static_cast<float>(i) + 0.5F) / kPitchSamples - 0.5F, 0.0F,
                                  static_cast<float>(values - 1));
      const auto before = static_cast<size_t>(at);
      const size_t after = std::min(before + 1, values - 1);
      const float part = at - static_cast<float>(before);
      const float phase = phases[before] * (1.0F - part) + phases[after] * part;
      samples[i] += kSineAmplitude * weight * std::sin(phase);
    }
  }
  for (float& sample : samples) {
    sample = std::tanh(sample + mix.bias);
  }
  return samples;
}

std::vector<float> magnitudes_and_phases(std::span<const float> samples) {
  const auto count = static_cast<int64_t>(samples.size());
  const int64_t frames = count / kHop + 1;
  std::vector<float> result(static_cast<size_t>(frames * 2 * kBins));
  for (int64_t frame = 0; frame < frames; ++frame) {
    std::array<double, kFft> seen{};
    for (int i = 0; i < kFft; ++i) {
      int64_t at = std::abs(frame * kHop + i - kFft / 2);
      at = at < count ? at : 2 * (count - 1) - at;
      seen[static_cast<size_t>(i)] =
          window()[static_cast<size_t>(i)] * static_cast<double>(samples[static_cast<size_t>(at)]);
    }
    float* const row = result.data() + frame * 2 * kBins;
    for (int bin = 0; bin < kBins; ++bin) {
      double real = 0.0;
      double imaginary = 0.0;
      for (int i = 0; i < kFft; ++i) {
        const Wave& wave = waves()[static_cast<size_t>(bin * i % kFft)];
        real += seen[static_cast<size_t>(i)] * wave.real;
        imaginary += seen[static_cast<size_t>(i)] * wave.imaginary;
      }
      row[bin] = static_cast<float>(std::hypot(real, imaginary));
      row[kBins + bin] = static_cast<float>(std::atan2(imaginary, real));
    }
  }
  return result;
}

std::vector<float> samples_of(std::span<const float> magnitudes, std::span<const float> phases) {
  const auto frames = static_cast<int64_t>(magnitudes.size()) / kBins;
  const int64_t count = (frames - 1) * kHop;
  std::vector<double> sums(static_cast<size_t>((frames - 1) * kHop + kFft));
  std::vector<double> squares(sums.size());
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (int i = 0; i < kFft; ++i) {
      double value = 0.0;
      for (int bin = 0; bin < kBins; ++bin) {
        const auto place = static_cast<size_t>(frame * kBins + bin);
        // Bins between the first and the last stand for two: the spectrum of a real signal.
        const double twice = bin == 0 || bin == kBins - 1 ? 1.0 : 2.0;
        const Wave& wave = waves()[static_cast<size_t>(bin * i % kFft)];
        const auto magnitude = static_cast<double>(magnitudes[place]);
        const auto phase = static_cast<double>(phases[place]);
        value +=
            twice * magnitude * (std::cos(phase) * wave.real + std::sin(phase) * wave.imaginary);
      }
      const double weight = window()[static_cast<size_t>(i)];
      const auto at = static_cast<size_t>(frame * kHop + i);
      sums[at] += value / kFft * weight;
      squares[at] += weight * weight;
    }
  }
  std::vector<float> samples(static_cast<size_t>(count));
  for (size_t i = 0; i < samples.size(); ++i) {
    const size_t at = i + kFft / 2;
    samples[i] = static_cast<float>(squares[at] > 0.0 ? sums[at] / squares[at] : sums[at]);
  }
  return samples;
}

}  // namespace mynah::kokoro
