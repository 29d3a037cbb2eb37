// LayerInputs: what each token brings to each layer beside its hidden state (Gemma 3n's and 4's
// per-layer embeddings; google-deepmind/gemma, gm/nn/gemma3n).
#pragma once

#include <cstdint>
#include <string_view>

#include "models/llama/config.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"

namespace mynah::llama {

// Of all layers.
class LayerInputs {
 public:
  LayerInputs() = default;

  // w holds "per_layer_token_embd" (vocabulary, layers * layer_inputs), "per_layer_model_proj"
  // (layers * layer_inputs, width) and "per_layer_proj_norm" (layer_inputs).
  [[nodiscard]] static Result<LayerInputs> load(const Weights& w, const Config& config);

  // ids (tokens) i32, x (tokens, width) their embeddings -> (tokens, layers * layer_inputs).
  [[nodiscard]] Tensor operator()(const Tensor& ids, const Tensor& x) const;

 private:
  Backend* backend_ = nullptr;
  int64_t columns_ = 0;  // of a layer
  int64_t width_ = 0;
  Tensor table_;
  Linear projection_;
  RmsNorm norm_;
};

// Of a layer: how it takes them in.
class LayerInput {
 public:
  LayerInput() = default;

  // w holds "inp_gate" (layer_inputs, width), "proj" (width, layer_inputs) and "post_norm" (width).
  [[nodiscard]] static Result<LayerInput> load(const Weights& w, const Config& config);

  // x (tokens, width), inputs (tokens, layer_inputs) -> x and what they add.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& inputs) const;

 private:
  Backend* backend_ = nullptr;
  Activation activation_ = Activation::None;
  Linear gate_;
  Linear projection_;
  RmsNorm norm_;
};

}  // namespace mynah::llama
