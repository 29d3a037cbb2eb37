// ExpertLinear: y = x W^T + b, where each row has the W and b of the expert that it was sent to.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

class ExpertLinear {
 public:
  struct Sizes {
    int64_t experts = 0;
    int64_t in = 0;
    int64_t out = 0;
  };

  ExpertLinear() = default;

  // w holds "NAME.weight" (experts, any, in), of one type, and where there is one "NAME.bias"
  // (experts, any) for each name; an expert's results stand side by side, `out` in sum.
  [[nodiscard]] static Result<ExpertLinear> load_stacked(const Weights& w,
                                                         std::span<const std::string_view> names,
                                                         Sizes sizes);

  // x (rows, in) or (rows * k, in), routes (rows, k) i32 -> (rows * k, out).
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& routes) const;

 private:
  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  ExpertWeights weights_;
  Tensor bias_;  // (experts, out); undefined: none
};

}  // namespace mynah
