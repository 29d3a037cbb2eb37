#include "models/whisper/encoder.h"

#include <array>
#include <cmath>

namespace mynah::whisper {

DType key_value_dtype(Precision precision) {
  return precision == Precision::Exact ? DType::F32 : DType::F16;
}

Result<Encoder::Block> Encoder::Block::load(const Weights& w, int64_t d) {
  static constexpr std::array<std::string_view, 3> kQkv = {"query", "key", "value"};
  Block block;
  MYNAH_TRY(block.attn_ln, LayerNorm::load(w / "attn_ln", d));
  MYNAH_TRY(block.qkv, Linear::load_stacked(w / "attn", kQkv, {.in = d, .out = 3 * d}));
  MYNAH_TRY(block.attn_out, Linear::load(w / "attn.out", {.in = d, .out = d}));
  MYNAH_TRY(block.mlp_ln, LayerNorm::load(w / "mlp_ln", d));
  MYNAH_TRY(block.mlp_in, Linear::load(w / "mlp.0", {.in = d, .out = 4 * d}));
  MYNAH_TRY(block.mlp_out, Linear::load(w / "mlp.2", {.in = 4 * d, .out = d}));
  return block;
}

Result<Encoder> Encoder::load(const Weights& w, const Config& c) {
  const int64_t d = c.n_audio_state;
  Encoder encoder;
  encoder.backend_ = &w.backend();
  encoder.precision_ = w.precision();
  encoder.width_ = d;
  encoder.heads_ = c.n_audio_head;
  MYNAH_TRY(encoder.conv1_,
            Conv1d::load(w / "conv1", {.in = c.n_mels, .out = d, .kernel = 3, .padding = 1}));
  MYNAH_TRY(encoder.conv2_,
            Conv1d::load(w / "conv2", {.in = d, .out = d, .kernel = 3, .stride = 2, .padding = 1}));
  MYNAH_TRY(encoder.position_, w.get("positional_embedding", {c.n_audio_ctx, d}));
  for (int64_t layer = 0; layer < c.n_audio_layer; ++layer) {
    MYNAH_TRY(Block block, Block::load(w / "blocks" / layer, d));
    encoder.blocks_.push_back(std::move(block));
  }
  MYNAH_TRY(encoder.ln_post_, LayerNorm::load(w / "ln_post", d));
  return encoder;
}

Lengths Encoder::positions(const Lengths& frames) const {
  return conv2_.out_lengths(conv1_.out_lengths(frames));
}

Tensor Encoder::self_attention(const Block& block, const Tensor& x, const Lengths& lengths,
                               const SilenceCache::Layer* tail, SilenceCache::Layer* kept) const {
  const Tensor qkv = block.qkv(block.attn_ln(x));  // (time, 3 width)
  const Tensor q = qkv.narrow(1, 0, width_);       // (time, width)
  Tensor k = qkv.narrow(1, width_, width_);
  Tensor v = qkv.narrow(1, 2 * width_, width_);
  if (precision_ == Precision::Fast) {
    k = ops::cast(*backend_, k, key_value_dtype(precision_));
    v = ops::cast(*backend_, v, key_value_dtype(precision_));
  }
  if (kept != nullptr) {
    *kept = {ops::copy(*backend_, k), ops::copy(*backend_, v)};
  }
  const Tensor attended =
      ops::attention(*backend_, q, k, v,
                     {.heads = heads_,
                      .kv_heads = heads_,
                      .scale = 1.0F / std::sqrt(static_cast<float>(width_ / heads_)),
                      .queries = lengths.spans(),
                      .keys = lengths.spans(),
                      .tail_k = tail == nullptr ? nullptr : &tail->keys,
                      .tail_v = tail == nullptr ? nullptr : &tail->values,
                      .precision = precision_});      // (time, width)
  return block.attn_out(attended, {.residual = &x});  // (time, width)
}

Tensor Encoder::forward(const Tensor& mel, const Lengths& frames, const SilenceCache* silence,
                        std::vector<SilenceCache::Layer>* kept, const std::stop_token& stop) const {
  const Lengths lengths = positions(frames);
  Tensor x = conv1_(mel, frames, Activation::Gelu);             // (frames, width)
  x = conv2_(x, conv1_.out_lengths(frames), Activation::Gelu);  // (time, width)
  for (const Span& span : lengths.spans()) {
    const Tensor rows = x.narrow(0, span.begin, span.length);
    const Tensor moved = ops::add(*backend_, rows, position_.narrow(0, 0, span.length));
    ops::copy_into(*backend_, moved, rows);
  }
  for (size_t layer = 0; layer < blocks_.size() && !stop.stop_requested(); ++layer) {
    const Block& block = blocks_[layer];
    SilenceCache::Layer own;
    x = self_attention(block, x, lengths, silence == nullptr ? nullptr : &silence->encoder[layer],
                       kept == nullptr ? nullptr : &own);
    if (kept != nullptr) {
      kept->push_back(own);
    }
    const Tensor hidden =
        block.mlp_in(block.mlp_ln(x), {.activation = Activation::Gelu});  // (time, 4 width)
    x = block.mlp_out(hidden, {.residual = &x});                          // (time, width)
  }
  return ln_post_(x);  // (time, width)
}

}  // namespace mynah::whisper
