#include "models/bert/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "ops/ops.h"

namespace mynah::bert {
Result<Model::Block> Model::Block::load(const Weights& w, const Config& c) {
  constexpr std::array<std::string_view, 3> kQkv = {"attn_q", "attn_k", "attn_v"};
  Block block;
  MYNAH_TRY(block.qkv, Linear::load_stacked(w, kQkv, {.in = c.width, .out = 3 * c.width}));
  MYNAH_TRY(block.attn_out, Linear::load(w / "attn_output", {.in = c.width, .out = c.width}));
  MYNAH_TRY(block.attn_norm, LayerNorm::load(w / "attn_output_norm", c.width, c.norm_epsilon));
  MYNAH_TRY(block.up, Linear::load(w / "ffn_up", {.in = c.width, .out = c.feed_forward}));
  MYNAH_TRY(block.down, Linear::load(w / "ffn_down", {.in = c.feed_forward, .out = c.width}));
  MYNAH_TRY(block.out_norm, LayerNorm::load(w / "layer_output_norm", c.width, c.norm_epsilon));
  return block;
}

Status Model::take(const Weights& w) {
  const Config& c = config_;
  MYNAH_TRY(table_, w.table("token_embd.weight", {c.vocabulary, c.width}));
  MYNAH_TRY(positions_, w.get("position_embd.weight", {c.positions, c.width}));
  if (w.has("token_types.weight")) {
    MYNAH_TRY(const Shape shape, w.shape("token_types.weight"));
    // Files of one kind of sentence have it as a row alone.
    const bool is_row = shape == Shape{c.width};
    MYNAH_TRY(const Tensor types,
              w.get("token_types.weight", is_row ? shape : Shape{shape[0], c.width}));
    positions_ = ops::add(backend(), positions_, is_row ? types : types.narrow(0, 0, 1));
  }
  MYNAH_TRY(norm_, LayerNorm::load(w / "token_embd_norm", c.width, c.norm_epsilon));
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    MYNAH_TRY(Block block, Block::load(w / "blk" / layer, c));
    blocks_.push_back(std::move(block));
  }
  return {};
}

Result<std::shared_ptr<const Model>> Model::load(const TensorFile& file, const Config& config,
                                                 const LoadOptions& options) {
  // Not by std::make_shared: the constructor is private.
  std::shared_ptr<Model> model(new Model);
  model->config_ = config;
  model->options_ = options;
  const auto owner = std::make_shared<const std::vector<std::shared_ptr<const void>>>(file.owners);
  const Weights w(
      file.tensors, owner, *options.backend,
      {.storage = options.storage, .precision = options.precision, .cache = options.cache.get()});
  if (Status taken = model->take(w); !taken) {
    return std::unexpected(std::move(taken).error().while_doing(file.path));
  }
  if (options.cache != nullptr) {
    (void)options.cache->commit();  // an unwritable cache costs time at the next start, no more
    options.cache->release_pages();
  }
  options.backend->release_idle_memory();
  for (const auto& mapped : file.mapped) {
    mapped->release_pages(mapped->bytes());
  }
  return model;
}

// Keys and values are not rounded, as they are in whole pages of speech: texts are short, and what
// that took would be less than what it changes.
Tensor Model::attention(const Block& block, const Tensor& x, const Lengths& texts) const {
  const int64_t width = config_.width;
  const Tensor qkv = block.qkv(x);  // (tokens, 3 width)
  const int64_t head_dim = width / config_.heads;
  const Tensor attended =
      ops::attention(backend(), qkv.narrow(1, 0, width), qkv.narrow(1, width, width),
                     qkv.narrow(1, 2 * width, width),
                     {.heads = config_.heads,
                      .kv_heads = config_.heads,
                      .scale = 1.0F / std::sqrt(static_cast<float>(head_dim)),
                      .queries = texts.spans(),
                      .keys = texts.spans()});  // (tokens, width)
  return block.attn_norm(block.attn_out(attended, {.residual = &x}));
}

Tensor Model::feed_forward(const Block& block, const Tensor& x) const {
  const Tensor inner = block.up(x, {.activation = Activation::Gelu});  // (tokens, feed_forward)
  return block.out_norm(block.down(inner, {.residual = &x}));
}

Tensor Model::forward(std::span<const int32_t> tokens, const Lengths& texts) const {
  std::vector<int32_t> places;
  places.reserve(tokens.size());
  for (const Span& text : texts.spans()) {
    for (int64_t i = 0; i < text.length; ++i) {
      places.push_back(static_cast<int32_t>(i));
    }
  }
  const Shape shape = {std::ssize(tokens)};
  const Tensor words = ops::embedding(backend(), table_, ops::from_host(backend(), tokens, shape));
  const Tensor where =
      ops::embedding(backend(), positions_, ops::from_host(backend(), places, shape));
  Tensor x = norm_(ops::add(backend(), words, where));  // (tokens, width)
  for (const Block& block : blocks_) {
    x = attention(block, x, texts);
    x = feed_forward(block, x);
  }
  return x;
}

std::vector<float> Model::pool(const Tensor& states, const Lengths& texts) const {
  const auto width = static_cast<size_t>(config_.width);
  const std::vector<float> values = ops::to_host(backend(), states);
  std::vector<float> vectors;
  vectors.reserve(static_cast<size_t>(texts.count()) * width);
  std::vector<double> sum(width);
  for (const Span& text : texts.spans()) {
    const int64_t rows = config_.pooling == Pooling::First ? 1 : text.length;
    std::ranges::fill(sum, 0.0);
    for (int64_t row = 0; row < rows; ++row) {
      const float* const from = &values[static_cast<size_t>(text.begin + row) * width];
      for (size_t i = 0; i < width; ++i) {
        sum[i] += from[i];
      }
    }
    double scale = 1.0 / static_cast<double>(rows);
    if (config_.normalized) {
      double squares = 0;
      for (const double value : sum) {
        squares += value * value;
      }
      scale = squares > 0 ? 1.0 / std::sqrt(squares) : 0.0;
    }
    for (const double value : sum) {
      vectors.push_back(static_cast<float>(value * scale));
    }
  }
  return vectors;
}

}  // namespace mynah::bert
