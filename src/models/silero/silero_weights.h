// Silero's weights read from a model file, by whichever names its format has for them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/silero/silero_frames.h"
#include "tensor/backend.h"

namespace mynah {

// A convolution over time with its bias.
struct SileroConvValues {
  std::vector<float> weight;  // (out, in, 3)
  std::vector<float> bias;    // (out)
};

// Every weight as f32 in host memory, shapes as in silero_vad_16k.safetensors.
struct SileroValues {
  std::vector<float> basis;  // (2 * bins, n_fft): windowed cosines, then windowed sines
  std::array<SileroConvValues, 4> convs;
  std::vector<float> lstm_input;  // (4 * 128, 128), gates in the order input, forget, cell, output
  std::vector<float> lstm_recurrent;  // (4 * 128, 128)
  std::vector<float> lstm_bias;       // (4 * 128): both biases summed
  std::vector<float> out_weight;      // (1, 128)
  std::vector<float> out_bias;        // (1)
};

inline constexpr int64_t kSileroHidden = 128;
inline constexpr int64_t kSileroKernel = 3;

// Rows in and out of the four convolutions; the first takes the spectrum's bins.
struct SileroConvSize {
  int64_t in = 0;
  int64_t out = 0;
};

[[nodiscard]] std::array<SileroConvSize, 4> silero_conv_sizes(const SileroGeometry& geometry);

// Finds the network for one rate in `file`; a file may hold both. Fails with InvalidInput when a
// weight is missing, has another shape or is not finite; with Unsupported when the file only has
// the other rate.
Result<SileroValues> read_silero_values(const TensorFile& file, const SileroGeometry& geometry,
                                        Backend& backend);

// Whether the basis is cosines and sines times one window, which is its first row, but for the
// rounding of f32. In whisper.cpp's ggml file it is rounded to f16.
[[nodiscard]] bool is_fourier_basis(std::span<const float> basis, const SileroGeometry& geometry);

}  // namespace mynah
