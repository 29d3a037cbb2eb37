// Silero VAD v6: a spectrum, four convolutions and an LSTM that give each 32 ms frame a probability
// of speech. Reference: silero-vad 6.2.3, silero_vad.onnx and tinygrad_model.py; v5 files have the
// same layers. Golden: tests/models/silero/golden.
#pragma once

#include <array>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/silero/silero_frames.h"
#include "tensor/backend.h"

namespace mynah {

// The LSTM's carried state of several recordings.
struct SileroState {
  Tensor h;  // (recordings, 128)
  Tensor c;  // (recordings, 128)
};

// The network for one rate. Const after load.
class Silero {
 public:
  // Reads the network for `rate_hz` (8000 or 16000, else InvalidInput) from a file that holds it;
  // packs its weights for `backend`, which must outlive it.
  static Result<Silero> load(const TensorFile& file, int rate_hz, Backend& backend);

  [[nodiscard]] const SileroGeometry& geometry() const { return geometry_; }

  // The state before the first frame.
  [[nodiscard]] SileroState initial_state(int64_t recordings) const;

  // columns (kSileroColumns * frames.total(), n_fft): what cut_silero_columns makes of each frame;
  // `frames` says how many each recording has here. Returns the probabilities (frames.total(), 1)
  // and carries `state`, of as many recordings, over.
  [[nodiscard]] Tensor forward(const Tensor& columns, const Lengths& frames,
                               const SileroState& state) const;

 private:
  struct Layer {
    LinearWeight weight;
    Tensor bias;  // (out)
  };

  Silero(const SileroGeometry& geometry, Backend& backend)
      : geometry_(geometry), backend_(&backend) {}

  [[nodiscard]] Tensor spectrum(const Tensor& columns) const;
  [[nodiscard]] Tensor conv(const Layer& layer, const Tensor& x, const Lengths& lengths,
                            int64_t stride) const;
  [[nodiscard]] Tensor linear(const Layer& layer, const Tensor& x, Activation activation) const;

  SileroGeometry geometry_;
  Backend* backend_;
  Tensor window_;       // (n_fft), where the spectrum's basis is exactly a windowed Fourier basis;
  LinearWeight basis_;  // (2 * bins, n_fft), where it was rounded further
  Layer conv1_;
  Layer conv2_;
  Layer conv3_;  // (64, 2 * 64): the two taps that fall on a frame's two rows
  Layer conv4_;  // (128, 64): the tap that falls on a frame's one row
  LinearWeight lstm_input_;
  LinearWeight lstm_recurrent_;
  Tensor lstm_bias_;
  Layer out_;
};

}  // namespace mynah
