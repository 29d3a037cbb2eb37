// Conv1d: convolution over the time of each utterance of a ragged batch.
#pragma once

#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

// What happens around a convolution.
struct Conv1dTail {
  const Conv1dInput* input = nullptr;  // what stands in x's place
  const Tensor* residual = nullptr;    // added last; like the result
  Activation activation = Activation::None;
};

class Conv1d {
 public:
  struct Sizes {
    int64_t in = 0;
    int64_t out = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t padding = 0;  // on either side
    int64_t dilation = 1;
    int64_t groups = 1;
  };

  Conv1d() = default;

  // w holds "weight" (out, in / groups, kernel) and, where there is one, "bias" (out).
  static Result<Conv1d> load(const Weights& w, const Sizes& sizes);

  // x (lengths.total(), in) -> (out_lengths(lengths).total(), out).
  [[nodiscard]] Tensor operator()(const Tensor& x, const Lengths& lengths,
                                  const Conv1dTail& tail = {}) const;
  [[nodiscard]] Lengths out_lengths(const Lengths& lengths) const;

 private:
  [[nodiscard]] Conv1dParams params() const;

  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  Sizes sizes_;
  LinearWeight weight_;
  Tensor bias_;  // undefined: none
};

}  // namespace mynah
