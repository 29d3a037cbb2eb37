#include "models/whisper/decoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace mynah::whisper {

Result<Decoder::Block> Decoder::Block::load(const Weights& w, int64_t d) {
  static constexpr std::array<std::string_view, 3> kQkv = {"query", "key", "value"};
  static constexpr std::array<std::string_view, 2> kKv = {"key", "value"};
  Block block;
  MYNAH_TRY(block.attn_ln, LayerNorm::load(w / "attn_ln", d));
  MYNAH_TRY(block.qkv, Linear::load_stacked(w / "attn", kQkv, {.in = d, .out = 3 * d}));
  MYNAH_TRY(block.attn_out, Linear::load(w / "attn.out", {.in = d, .out = d}));
  MYNAH_TRY(block.cross_attn_ln, LayerNorm::load(w / "cross_attn_ln", d));
  MYNAH_TRY(block.cross_query, Linear::load(w / "cross_attn.query", {.in = d, .out = d}));
  MYNAH_TRY(block.cross_kv, Linear::load_stacked(w / "cross_attn", kKv, {.in = d, .out = 2 * d}));
  MYNAH_TRY(block.cross_out, Linear::load(w / "cross_attn.out", {.in = d, .out = d}));
  MYNAH_TRY(block.mlp_ln, LayerNorm::load(w / "mlp_ln", d));
  MYNAH_TRY(block.mlp_in, Linear::load(w / "mlp.0", {.in = d, .out = 4 * d}));
  MYNAH_TRY(block.mlp_out, Linear::load(w / "mlp.2", {.in = 4 * d, .out = d}));
  return block;
}

Result<Decoder> Decoder::load(const Weights& w, const Config& c) {
  const int64_t d = c.n_text_state;
  Decoder decoder;
  decoder.backend_ = &w.backend();
  decoder.precision_ = w.precision();
  decoder.width_ = d;
  decoder.heads_ = c.n_text_head;
  MYNAH_TRY(decoder.tokens_, w.table("token_embedding.weight", {c.n_vocab, d}));
  MYNAH_TRY(decoder.position_, w.get("positional_embedding", {c.n_text_ctx, d}));
  for (int64_t layer = 0; layer < c.n_text_layer; ++layer) {
    MYNAH_TRY(Block block, Block::load(w / "blocks" / layer, d));
    decoder.blocks_.push_back(std::move(block));
  }
  MYNAH_TRY(decoder.ln_, LayerNorm::load(w / "ln", d));
  MYNAH_TRY(decoder.logits_,
            Linear::load_tied(w, "token_embedding.weight", {.in = d, .out = c.n_vocab}));
  return decoder;
}

CrossCache Decoder::cross_cache(const Tensor& states, const Lengths& lengths) const {
  CrossCache cross{.layers = {}, .lengths = lengths};
  for (const Block& block : blocks_) {
    const Tensor kv = block.cross_kv(states);  // (time, 2 width)
    std::vector<KeysValues>& layer = cross.layers.emplace_back();
    for (const Span& span : lengths.spans()) {
      const Tensor rows = kv.narrow(0, span.begin, span.length);
      layer.push_back(ops::pack_keys_values(*backend_, rows.narrow(1, 0, width_),
                                            rows.narrow(1, width_, width_), heads_, precision_));
    }
  }
  return cross;
}

void CrossCache::append(CrossCache more) {
  layers.resize(more.layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    std::ranges::move(more.layers[i], std::back_inserter(layers[i]));
  }
  for (const Span& span : more.lengths.spans()) {
    lengths.add(span.length);
  }
}

KvCache Decoder::new_cache(int64_t sequences, int64_t capacity, std::optional<DType> dtype) const {
  return {*backend_,
          {.layers = std::ssize(blocks_),
           .width = width_,
           .sequences = sequences,
           .capacity = std::min(capacity, position_.dim(0))},
          dtype.value_or(precision_ == Precision::Exact ? DType::F32 : DType::F16)};
}

Tensor Decoder::embed(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                      const KvCache& cache) const {
  std::vector<int32_t> positions;
  for (const Lane& lane : lanes) {
    for (int64_t i = 0; i < lane.count; ++i) {
      positions.push_back(static_cast<int32_t>(cache.length(lane.sequence) + i));
    }
  }
  const Shape shape{static_cast<int64_t>(tokens.size())};
  const Tensor words = ops::embedding(*backend_, tokens_, ops::from_host(*backend_, tokens, shape));
  const Tensor places = ops::gather_rows(
      *backend_, position_, ops::from_host(*backend_, std::span<const int32_t>(positions), shape));
  return ops::add(*backend_, words, places);  // (tokens, width)
}

Decoder::Step Decoder::plan(std::span<const Lane> lanes, const KvCache& cache) const {
  Step step{.past = cache.step(lanes), .queries = {}, .utterances = {}};
  for (const Lane& lane : lanes) {
    step.queries.add(lane.count);
    step.utterances.push_back(static_cast<size_t>(lane.context));
  }
  return step;
}

float Decoder::scale() const {
  const int64_t head_dim = width_ / heads_;
  return 1.0F / std::sqrt(static_cast<float>(head_dim));
}

Tensor Decoder::self_attention(const Block& block, int64_t layer, const Tensor& x, const Step& step,
                               const KvCache& cache) const {
  const Tensor qkv = block.qkv(block.attn_ln(x));  // (tokens, 3 width)
  cache.write(layer, qkv.narrow(1, width_, width_), qkv.narrow(1, 2 * width_, width_), step.past);
  const Tensor attended =
      ops::attention(*backend_, qkv.narrow(1, 0, width_), cache.keys(layer), cache.values(layer),
                     {.heads = heads_,
                      .kv_heads = heads_,
                      .scale = scale(),
                      .causal = true,
                      .queries = step.queries.spans(),
                      .keys = cache.spans(layer, step.past),
                      .pages = cache.table(layer, step.past),
                      .precision = precision_});
  return block.attn_out(attended, {.residual = &x});  // (tokens, width)
}

Tensor Decoder::cross_attention(const Block& block, int64_t layer, const Tensor& x,
                                const Step& step, const CrossCache& cross,
                                std::vector<Tensor>* queries) const {
  const Tensor q = block.cross_query(block.cross_attn_ln(x));  // (tokens, width)
  const auto index = static_cast<size_t>(layer);
  std::vector<const KeysValues*> keys;
  keys.reserve(step.utterances.size());
  for (const size_t utterance : step.utterances) {
    keys.push_back(&cross.layers[index][utterance]);
  }
  const Tensor attended = ops::attention_packed(
      *backend_, q,
      {.heads = heads_,
       .scale = scale(),
       .queries = step.queries.spans(),
       .keys = keys,
       .tail = cross.silence == nullptr ? nullptr : &cross.silence->decoder[index]});
  if (queries != nullptr) {
    queries->push_back(q);
  }
  return block.cross_out(attended, {.residual = &x});  // (tokens, width)
}

Tensor Decoder::forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                        KvCache& cache, const CrossCache& cross,
                        std::vector<Tensor>* cross_queries) const {
  cache.reserve(lanes);
  const Step step = plan(lanes, cache);
  Tensor x = embed(tokens, lanes, cache);  // (tokens, width)
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const auto layer = static_cast<int64_t>(i);
    x = self_attention(block, layer, x, step, cache);
    x = cross_attention(block, layer, x, step, cross, cross_queries);
    const Tensor hidden =
        block.mlp_in(block.mlp_ln(x), {.activation = Activation::Gelu});  // (tokens, 4 width)
    x = block.mlp_out(hidden, {.residual = &x});                          // (tokens, width)
  }
  cache.advance(lanes);
  return ln_(x);  // (tokens, width)
}

Tensor Decoder::alignment(const Tensor& queries, const CrossCache& cross, int64_t layer,
                          int64_t utterance, int64_t positions) const {
  return ops::attention_probabilities(
      *backend_, queries, cross.layers[static_cast<size_t>(layer)][static_cast<size_t>(utterance)],
      positions, heads_, scale());
}

}  // namespace mynah::whisper
