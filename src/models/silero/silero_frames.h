// How Silero cuts samples into frames, and those into the columns of its spectrum.
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

// Cuts the columns of one frame from `window` (context and frame), reflected at its end: out
// (kSileroColumns, n_fft).
void cut_silero_columns(std::span<const float> window, const SileroGeometry& geometry,
                        std::span<float> out);

}  // namespace mynah
