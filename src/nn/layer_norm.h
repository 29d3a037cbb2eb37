// LayerNorm over the last dimension.
#pragma once

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

class LayerNorm {
 public:
  LayerNorm() = default;

  // w holds "weight" and "bias" (width); epsilon as PyTorch's default.
  static Result<LayerNorm> load(const Weights& w, int64_t width);

  // x (..., width) -> the same shape.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  Backend* backend_ = nullptr;
  Tensor gamma_;
  Tensor beta_;
};

}  // namespace mynah
