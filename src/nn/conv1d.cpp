#include "nn/conv1d.h"

namespace mynah {

Result<Conv1d> Conv1d::load(const Weights& w, const Sizes& sizes) {
  Conv1d conv;
  conv.backend_ = &w.backend();
  conv.precision_ = w.precision();
  conv.sizes_ = sizes;
  MYNAH_TRY(conv.weight_,
            w.kernel("weight", {sizes.out, sizes.in / sizes.groups, sizes.kernel}, sizes.groups));
  if (w.has("bias")) {
    MYNAH_TRY(conv.bias_, w.get("bias", {sizes.out}));
  }
  return conv;
}

Conv1dParams Conv1d::params() const {
  return {.kernel = sizes_.kernel,
          .stride = sizes_.stride,
          .padding_left = sizes_.padding,
          .padding_right = sizes_.padding,
          .dilation = sizes_.dilation,
          .groups = sizes_.groups,
          .bias = bias_.defined() ? &bias_ : nullptr,
          .precision = precision_};
}

Tensor Conv1d::operator()(const Tensor& x, const Lengths& lengths, const Conv1dTail& tail) const {
  Conv1dParams how = params();
  how.input = tail.input;
  how.residual = tail.residual;
  how.activation = tail.activation;
  return ops::conv1d(*backend_, x, lengths, weight_, how);
}

Lengths Conv1d::out_lengths(const Lengths& lengths) const {
  return ops::conv1d_lengths(lengths, params());
}

}  // namespace mynah
