// LayerNorm over the last dimension.
#pragma once

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

class LayerNorm {
 public:
  LayerNorm() = default;

  // w holds "weight" and "bias" (width); epsilon is PyTorch's default where none is given.
  static Result<LayerNorm> load(const Weights& w, int64_t width, float epsilon = 1e-5F);

  // x (..., width) -> the same shape.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Backend* backend_ = nullptr;
  Tensor gamma_;
  Tensor beta_;
  float epsilon_ = 0.0F;
};

}  // namespace mynah
