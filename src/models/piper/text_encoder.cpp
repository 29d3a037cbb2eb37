#include "models/piper/text_encoder.h"

#include <cmath>

#include <fmt/format.h>

namespace mynah::piper {

Result<TextEncoder> TextEncoder::load(const Module& m) {
  TextEncoder encoder;
  encoder.backend_ = &m.weights().backend();
  MYNAH_TRY(const Shape table, m.shape("emb.weight", 2));
  encoder.symbols_ = table[0];
  encoder.width_ = table[1];
  MYNAH_TRY(encoder.table_, m.weights().get("emb.weight", table));
  const int64_t width = encoder.width_;
  const Module stack = m / "encoder";
  const int64_t layers = (stack / "attn_layers").count("emb_rel_k");
  for (int64_t i = 0; i < layers; ++i) {
    Layer& layer = encoder.layers_.emplace_back();
    const Module ffn = stack / "ffn_layers" / i;
    MYNAH_TRY(layer.attention, RelativeAttention::load(stack / "attn_layers" / i, width));
    MYNAH_TRY(layer.attention_norm,
              LayerNorm::load((stack / "norm_layers_1" / i).weights(), width));
    MYNAH_TRY(layer.widen, (ffn / "conv_1").conv({.in = width, .centred = true}));
    MYNAH_TRY(const int64_t inner, (ffn / "conv_1").out_features());
    MYNAH_TRY(layer.narrow, (ffn / "conv_2").conv({.in = inner, .out = width, .centred = true}));
    MYNAH_TRY(layer.ffn_norm, LayerNorm::load((stack / "norm_layers_2" / i).weights(), width));
  }
  MYNAH_TRY(encoder.project_, (m / "proj").conv({.in = width}));
  MYNAH_TRY(const int64_t both, (m / "proj").out_features());
  if (both % 2 != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("enc_p.proj: wanted means and deviations, found {} channels", both));
  }
  encoder.latent_ = both / 2;
  return encoder;
}

TextEncoder::Encoded TextEncoder::operator()(std::span<const int32_t> ids) const {
  Backend& backend = *backend_;
  const Lengths sentence{std::ssize(ids)};
  Tensor x = ops::affine(
      backend, ops::embedding(backend, table_, ops::from_host(backend, ids, {std::ssize(ids)})),
      std::sqrt(static_cast<float>(width_)));
  for (const Layer& layer : layers_) {
    x = layer.attention_norm(layer.attention(x));
    const Tensor inner = layer.widen(x, sentence, {.activation = Activation::Relu});
    x = layer.ffn_norm(layer.narrow(inner, sentence, {.residual = &x}));
  }
  const Tensor both = project_(x, sentence);
  return {
      .x = x, .mean = both.narrow(1, 0, latent_), .logarithm = both.narrow(1, latent_, latent_)};
}

}  // namespace mynah::piper
