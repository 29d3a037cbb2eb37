#include "models/llama/layer_inputs.h"

#include <cmath>

namespace mynah::llama {

Result<LayerInputs> LayerInputs::load(const Weights& w, const Config& c) {
  LayerInputs inputs;
  inputs.backend_ = &w.backend();
  inputs.columns_ = c.layer_inputs;
  inputs.width_ = c.width;
  const int64_t all = c.layers * c.layer_inputs;
  MYNAH_TRY(inputs.table_, w.table("per_layer_token_embd.weight", {c.vocabulary, all}));
  MYNAH_TRY(inputs.projection_,
            Linear::load(w / "per_layer_model_proj", {.in = c.width, .out = all}));
  MYNAH_TRY(inputs.norm_, RmsNorm::load(w / "per_layer_proj_norm", c.layer_inputs, c.norm_epsilon));
  return inputs;
}

Tensor LayerInputs::operator()(const Tensor& ids, const Tensor& x) const {
  const float of_table = std::sqrt(static_cast<float>(columns_));
  const float of_projection = 1.0F / std::sqrt(static_cast<float>(width_));
  const Tensor projected = norm_.of_heads(ops::affine(*backend_, projection_(x), of_projection));
  const Tensor stored = ops::affine(*backend_, ops::embedding(*backend_, table_, ids), of_table);
  return ops::affine(*backend_, ops::add(*backend_, projected, stored), std::sqrt(0.5F));
}

Result<LayerInput> LayerInput::load(const Weights& w, const Config& c) {
  LayerInput input;
  input.backend_ = &w.backend();
  input.activation_ = c.gate.activation;
  MYNAH_TRY(input.gate_, Linear::load(w / "inp_gate", {.in = c.width, .out = c.layer_inputs}));
  MYNAH_TRY(input.projection_, Linear::load(w / "proj", {.in = c.layer_inputs, .out = c.width}));
  MYNAH_TRY(input.norm_, RmsNorm::load(w / "post_norm", c.width, c.norm_epsilon));
  return input;
}

Tensor LayerInput::operator()(const Tensor& x, const Tensor& inputs) const {
  const Tensor open = gate_(x, {.activation = activation_});  // (tokens, layer_inputs)
  const Tensor taken = projection_(ops::mul(*backend_, open, inputs));
  return ops::add(*backend_, x, norm_(taken));
}

}  // namespace mynah::llama
