// VITS's flow, backwards: from the text's prior to what the generator hears (Kim, Kong and Son
// 2021, arXiv:2106.06103, section 2.2.2; models.py, ResidualCouplingBlock).
#pragma once

#include <vector>

#include "models/piper/module.h"

namespace mynah::piper {

class Flow {
 public:
  Flow() = default;

  // m is the checkpoint's "flow", with channels in the order that read_onnx_voice() gives.
  static Result<Flow> load(const Module& m, int64_t latent, int64_t of_speaker);

  // z (frames, latent) of one sentence; speaker (1, of_speaker) or undefined -> the same shape.
  [[nodiscard]] Tensor operator()(const Tensor& z, const Tensor& speaker) const;

 private:
  // Gated convolutions (modules.py, WN; van den Oord et al. 2016, arXiv:1609.03499, section 2.3).
  struct Gates {
    Conv1d in;
    Conv1d out;
    bool last = false;
  };

  struct Layer {
    Conv1d in;
    std::vector<Gates> gates;
    Conv1d speaker;  // of all gates, where there are speakers
    Conv1d out;
  };

  static Result<Layer> load_layer(const Module& m, int64_t half, int64_t width, int64_t of_speaker);
  [[nodiscard]] Tensor shift(const Layer& layer, const Tensor& half, const Tensor& speaker) const;

  Backend* backend_ = nullptr;
  int64_t latent_ = 0;
  int64_t width_ = 0;
  std::vector<Layer> layers_;  // in the order in which they run
};

}  // namespace mynah::piper
