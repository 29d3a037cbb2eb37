// The constants of MicroFeatures: window, mel filters, gain.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/wake_word/fixed_spectrum.h"
#include "models/wake_word/micro_features.h"

namespace mynah::wake_word {

// Fractions of a weight of the window and of the filters.
inline constexpr int kWindowBits = 12;
inline constexpr int kFilterBits = 12;
// Of a logarithm: bits behind the point, and of the number of steps that its curve is read at.
inline constexpr uint32_t kLogBits = 16;
inline constexpr uint32_t kLogStepsBits = 7;

// A bin of the spectrum belongs to two neighbouring triangles: `falling` of it to the one that
// falls there, the rest to the one that rises.
struct FilterWeight {
  int16_t rising = 0;
  int16_t falling = 0;
};

// A value with 32 bits for which a gain is looked up: a parabola for each power of two.
struct GainPiece {
  int16_t base = 0;
  int16_t slope = 0;
  int16_t bend = 0;
};

struct MicroTables {
  MicroTables();

  FixedSpectrum spectrum;
  std::array<int16_t, kFeatureWindow> window;  // Hann, kWindowBits
  size_t first_bin = 0;                        // of those that any filter hears
  // Bins of each half triangle, one after the other from first_bin on: channel c is the rising half
  // c and the falling half c + 1.
  std::array<std::vector<FilterWeight>, kFeatureChannels + 1> halves;
  // log2(1 + i / 128) - i / 128, kLogBits.
  std::array<int32_t, (1U << kLogStepsBits) + 1> log_steps;
  std::array<int16_t, 2> gain_of_least;  // of 0 and 1
  std::array<GainPiece, 33> gains;       // by the number of a value's bits, from 2 on
};

}  // namespace mynah::wake_word
