// Norm: of hidden states, as a model has it.
#pragma once

#include "models/llama/config.h"
#include "nn/weights.h"

namespace mynah::llama {

// An RMS norm, or, where Config::layer_norms, a layer norm (Ba, Kiros and Hinton 2016,
// arXiv:1607.06450).
class Norm {
 public:
  Norm() = default;

  // w holds "weight" (width) and, of a layer norm, "bias" (width) where there is one.
  [[nodiscard]] static Result<Norm> load(const Weights& w, const Config& config);

  // x (rows, width) -> the same shape.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Backend* backend_ = nullptr;
  Tensor gamma_;
  Tensor beta_;  // undefined: an RMS norm
  float epsilon_ = 0.0F;
};

}  // namespace mynah::llama
