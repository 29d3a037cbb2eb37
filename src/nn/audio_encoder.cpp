#include "nn/audio_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mynah {
Result<AudioEncoder::Block> AudioEncoder::Block::load(const Weights& w, int64_t d) {
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

Result<AudioEncoder> AudioEncoder::load(const Weights& w, const Sizes& sizes) {
  const int64_t d = sizes.width;
  AudioEncoder encoder;
  encoder.backend_ = &w.backend();
  encoder.precision_ = w.precision();
  encoder.width_ = d;
  encoder.heads_ = sizes.heads;
  MYNAH_TRY(encoder.conv1_,
            Conv1d::load(w / "conv1", {.in = sizes.mels, .out = d, .kernel = 3, .padding = 1}));
  MYNAH_TRY(encoder.conv2_,
            Conv1d::load(w / "conv2", {.in = d, .out = d, .kernel = 3, .stride = 2, .padding = 1}));
  MYNAH_TRY(encoder.position_, w.get("positional_embedding", {sizes.positions, d}));
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    MYNAH_TRY(Block block, Block::load(w / "blocks" / layer, d));
    encoder.blocks_.push_back(std::move(block));
  }
  MYNAH_TRY(encoder.ln_post_, LayerNorm::load(w / "ln_post", d));
  return encoder;
}

Lengths AudioEncoder::positions(const Lengths& frames) const {
  return conv2_.out_lengths(conv1_.out_lengths(frames));
}

// qkv (time, 3 width): query, key and value of every position.
Tensor AudioEncoder::self_attention(const Block& block, const Tensor& qkv, const Tensor& x,
                                    const Lengths& lengths, const KeysValues* tail,
                                    int64_t tail_group) const {
  std::vector<KeysValues> packed;
  std::vector<const KeysValues*> keys;
  packed.reserve(lengths.spans().size());
  for (const Span& span : lengths.spans()) {
    const Tensor rows = qkv.narrow(0, span.begin, span.length);
    packed.push_back(ops::pack_keys_values(*backend_, rows.narrow(1, width_, width_),
                                           rows.narrow(1, 2 * width_, width_), heads_, precision_));
    keys.push_back(&packed.back());
  }
  const int64_t head_dim = width_ / heads_;
  const Tensor attended =
      ops::attention_packed(*backend_, qkv.narrow(1, 0, width_),
                            {.heads = heads_,
                             .scale = 1.0F / std::sqrt(static_cast<float>(head_dim)),
                             .queries = lengths.spans(),
                             .keys = keys,
                             .tail = tail,
                             .tail_group = tail_group});  // (time, width)
  return block.attn_out(attended, {.residual = &x});      // (time, width)
}

// What lies between the two products is four times as wide: as many rows at a time as the device
// likes.
Tensor AudioEncoder::feed_forward(const Block& block, const Tensor& x) const {
  const auto result = [&block](const Tensor& rows) {
    const Tensor hidden =
        block.mlp_in(block.mlp_ln(rows), {.activation = Activation::Gelu});  // (rows, 4 width)
    return block.mlp_out(hidden, {.residual = &rows});
  };
  const int64_t together = backend_->rows_together();
  if (x.dim(0) <= together) {
    return result(x);
  }
  for (int64_t begin = 0; begin < x.dim(0); begin += together) {
    const Tensor rows = x.narrow(0, begin, std::min(together, x.dim(0) - begin));
    ops::copy_into(*backend_, result(rows), rows);
  }
  return x;
}

Tensor AudioEncoder::forward(const Tensor& mel, const Lengths& frames, const AudioTail& tail,
                             std::vector<LayerKeys>* kept, const std::stop_token& stop) const {
  const Lengths lengths = positions(frames);
  Tensor x = conv1_(mel, frames, {.activation = Activation::Gelu});             // (frames, width)
  x = conv2_(x, conv1_.out_lengths(frames), {.activation = Activation::Gelu});  // (time, width)
  for (const Span& span : lengths.spans()) {
    const Tensor rows = x.narrow(0, span.begin, span.length);
    const Tensor moved = ops::add(*backend_, rows, position_.narrow(0, 0, span.length));
    ops::copy_into(*backend_, moved, rows);
  }
  for (size_t layer = 0; layer < blocks_.size() && !stop.stop_requested(); ++layer) {
    const Block& block = blocks_[layer];
    const Tensor qkv = block.qkv(block.attn_ln(x));  // (time, 3 width)
    if (kept != nullptr) {
      kept->push_back({ops::copy(*backend_, qkv.narrow(1, width_, width_)),
                       ops::copy(*backend_, qkv.narrow(1, 2 * width_, width_))});
    }
    x = self_attention(block, qkv, x, lengths, tail.layers.empty() ? nullptr : &tail.layers[layer],
                       tail.group);
    x = feed_forward(block, x);
  }
  return ln_post_(x);  // (time, width)
}

}  // namespace mynah
