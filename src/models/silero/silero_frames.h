// How Silero cuts samples into frames, and the halves of them that its spectrum is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace mynah {

// The sizes of Silero's network at one of its two rates (silero_vad.onnx, both branches of its If).
struct SileroGeometry {
  int rate_hz = 16000;
  int64_t frame = 512;   // samples between probabilities: 32 ms
  int64_t context = 64;  // samples of the past in front of each frame
  int64_t n_fft = 256;   // hop n_fft / 2; a frame is reflected at its end by n_fft / 4

  [[nodiscard]] int64_t bins() const { return n_fft / 2 + 1; }

  [[nodiscard]] int64_t window() const { return context + frame; }

  // For 8000 and 16000 Hz.
  [[nodiscard]] static std::optional<SileroGeometry> at_rate(int rate_hz);
};

// Columns of the spectrum of one frame; every later layer relies on it.
inline constexpr int64_t kSileroColumns = 4;

// Makes the columns of one frame from `window` (context and frame): out (kSileroColumns, n_fft).
// With N = n_fft and x one column's samples, a row holds first the even half x[n] + x[N - n], n = 1
// .. N/2 - 1, and x[N/2]; then the odd half x[n] - x[N - n], and 0. A windowed Fourier basis is
// even (cosines) or odd (sines) about N/2 and 0 at n = 0, so that its products with x need only one
// half each.
void fold_silero_columns(std::span<const float> window, const SileroGeometry& geometry,
                         std::span<float> out);

}  // namespace mynah
