#include "nn/rms_norm.h"

namespace mynah {

Result<RmsNorm> RmsNorm::load(const Weights& w, int64_t width, float epsilon) {
  MYNAH_TRY(Tensor gamma, w.get("weight", {width}));
  return RmsNorm(w.backend(), std::move(gamma), epsilon);
}

Tensor RmsNorm::operator()(const Tensor& x) const {
  return ops::rms_norm(*backend_, x, gamma_, epsilon_);
}

Tensor RmsNorm::of_heads(const Tensor& x) const {
  const Tensor rows = ops::contiguous(*backend_, x);
  const int64_t width = gamma_.dim(0);
  return (*this)(rows.reshape({x.elements() / width, width})).reshape(x.shape());
}

}  // namespace mynah
