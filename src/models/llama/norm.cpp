#include "models/llama/norm.h"

#include "ops/ops.h"

namespace mynah::llama {

Result<Norm> Norm::load(const Weights& w, const Config& c) {
  Norm norm;
  norm.backend_ = &w.backend();
  norm.epsilon_ = c.norm_epsilon;
  MYNAH_TRY(norm.gamma_, w.get("weight", {c.width}));
  if (c.layer_norms && w.has("bias")) {
    MYNAH_TRY(norm.beta_, w.get("bias", {c.width}));
  } else if (c.layer_norms) {
    norm.beta_ = ops::zeros(w.backend(), {c.width});
  }
  return norm;
}

Tensor Norm::operator()(const Tensor& x) const {
  return beta_.defined() ? ops::layer_norm(*backend_, x, gamma_, beta_, epsilon_)
                         : ops::rms_norm(*backend_, x, gamma_, epsilon_);
}

}  // namespace mynah::llama
