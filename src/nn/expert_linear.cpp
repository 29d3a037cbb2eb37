#include "nn/expert_linear.h"

namespace mynah {

Result<ExpertLinear> ExpertLinear::load_stacked(const Weights& w,
                                                std::span<const std::string_view> names,
                                                Sizes sizes) {
  ExpertLinear linear;
  linear.backend_ = &w.backend();
  linear.precision_ = w.precision();
  MYNAH_TRY(linear.weights_, w.experts(names, sizes.experts, sizes.out, sizes.in));
  MYNAH_TRY(linear.bias_, w.expert_bias(names, sizes.experts, sizes.out));
  return linear;
}

Tensor ExpertLinear::operator()(const Tensor& x, const Tensor& routes) const {
  return ops::routed_linear(*backend_, x, routes, weights_,
                            {.bias = bias_.defined() ? &bias_ : nullptr, .precision = precision_});
}

}  // namespace mynah
