// FixedSpectrum: a Fourier transform of 512 samples in 16 bits, to the bit the one that the front
// end of TensorFlow Lite Micro uses (KISS FFT in fixed point: mborgerding/kissfft, radix 4).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mynah::wake_word {

inline constexpr size_t kTransformSize = 512;
inline constexpr size_t kSpectrumBins = (kTransformSize / 2) + 1;

struct FixedComplex {
  int16_t real = 0;
  int16_t imaginary = 0;
};

// Const once it is made: one serves all.
class FixedSpectrum {
 public:
  FixedSpectrum();

  // The bins from 0 Hz to half of the rate. Each of the stages makes its values smaller, so that
  // none overflows: 1 / 512 of the sums.
  [[nodiscard]] std::array<FixedComplex, kSpectrumBins> of(
      std::span<const int16_t, kTransformSize> samples) const;

 private:
  static constexpr size_t kHalf = kTransformSize / 2;

  // In place, of what `of` put in order.
  void transform(std::array<FixedComplex, kHalf>& values) const;

  std::array<FixedComplex, kHalf> turns_;           // e^(-2 pi i k / 256)
  std::array<FixedComplex, kHalf / 2> half_turns_;  // of the step that takes even and odd apart
  std::array<uint8_t, kHalf> order_;                // the indices with their base-4 digits reversed
};

}  // namespace mynah::wake_word
