#include "nn/linear.h"

namespace mynah {

Result<Linear> Linear::load(const Weights& w, Sizes sizes) {
  MYNAH_TRY(LinearWeight weight, w.matrix("weight", sizes.out, sizes.in));
  Tensor bias;
  if (w.has("bias")) {
    MYNAH_TRY(bias, w.get("bias", {sizes.out}));
  }
  return Linear(w, std::move(weight), std::move(bias));
}

Result<Linear> Linear::load_stacked(const Weights& w, std::span<const std::string_view> names,
                                    Sizes sizes) {
  MYNAH_TRY(LinearWeight weight, w.stacked(names, sizes.out, sizes.in));
  MYNAH_TRY(Tensor bias, w.stacked_bias(names, sizes.out));
  return Linear(w, std::move(weight), std::move(bias));
}

Result<Linear> Linear::load_tied(const Weights& w, std::string_view name, Sizes sizes) {
  MYNAH_TRY(LinearWeight weight, w.matrix(name, sizes.out, sizes.in));
  return Linear(w, std::move(weight), Tensor());
}

Tensor Linear::operator()(const Tensor& x, const LinearTail& tail) const {
  return ops::linear(*backend_, x, weight_,
                     {.bias = bias_.defined() ? &bias_ : nullptr,
                      .residual = tail.residual,
                      .activation = tail.activation,
                      .precision = precision_});
}

}  // namespace mynah
