#include "nn/conv_transpose1d.h"

namespace mynah {

Result<ConvTranspose1d> ConvTranspose1d::load(const Weights& w, const Sizes& sizes) {
  ConvTranspose1d conv;
  conv.backend_ = &w.backend();
  conv.precision_ = w.precision();
  MYNAH_TRY(conv.weight_, w.transposed_kernel("weight", sizes.in, sizes.out, sizes.kernel));
  if (w.has("bias")) {
    MYNAH_TRY(const Tensor bias, w.get("bias", {sizes.out}));
    conv.weight_.bias = ops::pack_conv_transpose1d_bias(w.backend(), bias, sizes.kernel);
  }
  return conv;
}

Tensor ConvTranspose1d::operator()(const Tensor& x, const Lengths& lengths,
                                   const Conv1dTail& tail) const {
  return ops::conv_transpose1d(*backend_, x, lengths, weight_,
                               {.input = tail.input,
                                .residual = tail.residual,
                                .activation = tail.activation,
                                .precision = precision_});
}

Lengths ConvTranspose1d::out_lengths(const Lengths& lengths) const {
  return ops::conv_transpose1d_lengths(lengths, weight_.sizes);
}

}  // namespace mynah
