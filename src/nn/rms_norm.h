// RmsNorm over the last dimension (Zhang and Sennrich 2019, arXiv:1910.07467).
#pragma once

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

class RmsNorm {
 public:
  RmsNorm() = default;

  // gamma (width).
  RmsNorm(Backend& backend, Tensor gamma, float epsilon)
      : backend_(&backend), gamma_(std::move(gamma)), epsilon_(epsilon) {}

  // w holds "weight" (width).
  static Result<RmsNorm> load(const Weights& w, int64_t width, float epsilon);

  // x (..., width) -> the same shape.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

  // Each head of x (rows, heads * width) by itself -> the same shape.
  [[nodiscard]] Tensor of_heads(const Tensor& x) const;

 private:
  Backend* backend_ = nullptr;
  Tensor gamma_;
  float epsilon_ = 0.0F;
};

}  // namespace mynah
