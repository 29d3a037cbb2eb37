#include "models/hibari/text_encoder.h"

#include <cmath>

#include <fmt/format.h>

namespace mynah::hibari {

namespace {

constexpr int64_t kHeads = 2;

}  // namespace

Result<TextEncoder> TextEncoder::load(const Weights& weights, const std::string& path,
                                      int64_t passes, const Dilations& dilations) {
  TextEncoder encoder;
  const Weights w = weights / path;
  encoder.backend_ = &w.backend();
  encoder.precision_ = w.precision();
  encoder.passes_ = passes;
  MYNAH_TRY(const Shape table, (w / "emb").shape("weight"));
  MYNAH_TRY(const Shape inner, (w / "attn.linear1").shape("bias"));
  if (table.rank() != 2 || table[1] % kHeads != 0 || inner.rank() != 1) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a table of an even width, found {}", table.str()));
  }
  encoder.symbols_ = table[0];
  encoder.width_ = table[1];
  const int64_t width = encoder.width_;
  MYNAH_TRY(encoder.table_, (w / "emb").get("weight", table));
  MYNAH_TRY(encoder.blocks_, ConvBlock::load_all(weights, path + ".convs", width, dilations));
  const Weights attention = w / "attn";
  MYNAH_TRY(encoder.attention_norm_, LayerNorm::load(attention / "norm1", width));
  MYNAH_TRY(encoder.qkv_,
            Linear::load(attention / "self_attn.in_proj", {.in = width, .out = 3 * width}));
  MYNAH_TRY(encoder.out_,
            Linear::load(attention / "self_attn.out_proj", {.in = width, .out = width}));
  MYNAH_TRY(encoder.ffn_norm_, LayerNorm::load(attention / "norm2", width));
  MYNAH_TRY(encoder.widen_, Linear::load(attention / "linear1", {.in = width, .out = inner[0]}));
  MYNAH_TRY(encoder.narrow_, Linear::load(attention / "linear2", {.in = inner[0], .out = width}));
  MYNAH_TRY(encoder.last_norm_, LayerNorm::load(w / "norm", width));
  return encoder;
}

Tensor TextEncoder::attend(const Tensor& x) const {
  const Tensor qkv = qkv_(attention_norm_(x));
  const Lengths sentence{x.dim(0)};
  const AttentionParams params{.heads = kHeads,
                               .kv_heads = kHeads,
                               .scale = 1.0F / std::sqrt(static_cast<float>(width_) / kHeads),
                               .causal = false,
                               .queries = sentence.spans(),
                               .keys = sentence.spans(),
                               .precision = precision_};
  const Tensor seen =
      ops::attention(*backend_, qkv.narrow(1, 0, width_), qkv.narrow(1, width_, width_),
                     qkv.narrow(1, 2 * width_, width_), params);
  const Tensor attended = out_(seen, {.residual = &x});
  return narrow_(widen_(ffn_norm_(attended), {.activation = Activation::Gelu}),
                 {.residual = &attended});
}

Tensor TextEncoder::operator()(std::span<const int32_t> ids) const {
  Tensor x = ops::embedding(*backend_, table_, ops::from_host(*backend_, ids, {std::ssize(ids)}));
  for (const ConvBlock& block : blocks_) {
    x = block(x);
  }
  for (int64_t pass = 0; pass < passes_; ++pass) {
    x = attend(x);
  }
  return last_norm_(x);
}

}  // namespace mynah::hibari
