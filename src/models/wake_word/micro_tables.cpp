#include "models/wake_word/micro_tables.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace mynah::wake_word {
namespace {

// What pymicro-features (src/micro_features.cpp, init_cfg) sets.
// Volatile, so that their logarithms are the mathematical library's as the reference's are: a
// compiler rounds better, and three weights come out by one apart.
const volatile float kLeast_hz = 125.0F;
const volatile float kMost_hz = 7500.0F;
constexpr float kGainStrength = 0.95F;
constexpr float kGainOffset = 80.0F;
constexpr int kGainBits = 21;
// The noise has 10 bits more than the signal, the signal 3 less than the filters' sums have.
constexpr int kNoiseFraction = 7;

// In floats as there: what is rounded afterwards must be the same number.
float mel_of(float hz) {
  return 1127.0F * std::log1p(hz / 700.0F);
}

int16_t to_fixed(float value, int bits) {
  return static_cast<int16_t>(std::floor((value * static_cast<float>(1 << bits)) + 0.5F));
}

int16_t gain_of(uint32_t noise) {
  const float level = static_cast<float>(noise) / static_cast<float>(1U << kNoiseFraction);
  const float gain =
      static_cast<float>(1U << kGainBits) * std::pow(level + kGainOffset, -kGainStrength);
  constexpr auto kMost = static_cast<float>(std::numeric_limits<int16_t>::max());
  return gain > kMost ? std::numeric_limits<int16_t>::max()
                      : static_cast<int16_t>(std::floor(gain + 0.5F));
}

// Through the values at begin, middle and end of the numbers of `bits` bits.
GainPiece gain_piece(int bits) {
  constexpr int kMostBits = 32;
  const uint32_t begin = 1U << (bits - 1);
  const uint32_t end = bits == kMostBits ? std::numeric_limits<uint32_t>::max() : 2 * begin;
  const int32_t base = gain_of(begin);
  const int32_t middle = gain_of(begin + (begin >> 1)) - base;
  const int32_t whole = gain_of(end) - base;
  const int32_t slope = (4 * middle) - whole;
  return {static_cast<int16_t>(base), static_cast<int16_t>(slope),
          static_cast<int16_t>(whole - slope)};
}

}  // namespace

MicroTables::MicroTables() {
  const float turn = static_cast<float>(std::numbers::pi) * 2.0F / kFeatureWindow;
  for (size_t i = 0; i < window.size(); ++i) {
    const float value = 0.5F - (0.5F * std::cos(turn * (static_cast<float>(i) + 0.5F)));
    window[i] = to_fixed(value, kWindowBits);
  }

  const float bin_hz = 0.5F * kFeatureRate_hz / static_cast<float>(kSpectrumBins - 1);
  first_bin = static_cast<size_t>(1.5F + (kLeast_hz / bin_hz));
  const float least = mel_of(kLeast_hz);
  const float spacing = (mel_of(kMost_hz) - least) / static_cast<float>(halves.size());
  size_t bin = first_bin;
  float begin = least;
  for (size_t half = 0; half < halves.size(); ++half) {
    const float end = least + (spacing * static_cast<float>(half + 1));
    for (; mel_of(static_cast<float>(bin) * bin_hz) <= end; ++bin) {
      const float falling = (end - mel_of(static_cast<float>(bin) * bin_hz)) / (end - begin);
      halves[half].push_back({.rising = to_fixed(1.0F - falling, kFilterBits),
                              .falling = to_fixed(falling, kFilterBits)});
    }
    begin = end;
  }

  for (size_t i = 0; i < log_steps.size(); ++i) {
    const double part = static_cast<double>(i) / (1U << kLogStepsBits);
    log_steps[i] =
        static_cast<int32_t>(std::lround((std::log2(1 + part) - part) * (1U << kLogBits)));
  }

  gain_of_least = {gain_of(0), gain_of(1)};
  for (int bits = 2; bits < static_cast<int>(gains.size()); ++bits) {
    gains[static_cast<size_t>(bits)] = gain_piece(bits);
  }
}

}  // namespace mynah::wake_word
