#include "nn/layer_norm.h"

namespace mynah {

Result<LayerNorm> LayerNorm::load(const Weights& w, int64_t width, float epsilon) {
  LayerNorm norm;
  norm.backend_ = &w.backend();
  norm.epsilon_ = epsilon;
  MYNAH_TRY(norm.gamma_, w.get("weight", {width}));
  MYNAH_TRY(norm.beta_, w.get("bias", {width}));
  return norm;
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return ops::layer_norm(*backend_, x, gamma_, beta_, epsilon_);
}

}  // namespace mynah
