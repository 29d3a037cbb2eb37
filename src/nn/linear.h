// Linear: y = x W^T + b with weights of any storage type.
#pragma once

#include <span>
#include <string_view>

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

// What happens to a product on its way out.
struct LinearTail {
  Activation activation = Activation::None;
  const Tensor* residual = nullptr;  // added last; (rows, out)
};

class Linear {
 public:
  struct Sizes {
    int64_t in = 0;
    int64_t out = 0;
  };

  Linear() = default;

  // w holds "weight" (out, in) and, where there is one, "bias" (out).
  static Result<Linear> load(const Weights& w, Sizes sizes);
  // Several projections of one input as one product: the results stand side by side.
  static Result<Linear> load_stacked(const Weights& w, std::span<const std::string_view> names,
                                     Sizes sizes);
  // A table (out, in) used as a product: Whisper's logits.
  static Result<Linear> load_tied(const Weights& w, std::string_view name, Sizes sizes);

  // x (rows, in) -> (rows, out).
  [[nodiscard]] Tensor operator()(const Tensor& x, const LinearTail& tail = {}) const;

 private:
  Linear(const Weights& w, LinearWeight weight, Tensor bias)
      : backend_(&w.backend()),
        precision_(w.precision()),
        weight_(std::move(weight)),
        bias_(std::move(bias)) {}

  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  LinearWeight weight_;
  Tensor bias_;  // undefined: none
};

}  // namespace mynah
