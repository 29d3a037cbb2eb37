// ConvTranspose1d: transposed convolution over the time of each utterance of a ragged batch, whose
// result is `stride` times as long: the upsampling of vocoders.
#pragma once

#include "nn/conv1d.h"
#include "nn/weights.h"
#include "ops/ops.h"

namespace mynah {

class ConvTranspose1d {
 public:
  struct Sizes {
    int64_t in = 0;
    int64_t out = 0;
    ConvTranspose1dSizes kernel;
  };

  ConvTranspose1d() = default;

  // w holds "weight" (in, out / groups, kernel) and, where there is one, "bias" (out).
  static Result<ConvTranspose1d> load(const Weights& w, const Sizes& sizes);

  // x (lengths.total(), in) -> (out_lengths(lengths).total(), out).
  [[nodiscard]] Tensor operator()(const Tensor& x, const Lengths& lengths,
                                  const Conv1dTail& tail = {}) const;
  [[nodiscard]] Lengths out_lengths(const Lengths& lengths) const;

 private:
  Backend* backend_ = nullptr;
  Precision precision_ = Precision::Exact;
  ConvTranspose1dWeight weight_;
};

}  // namespace mynah
