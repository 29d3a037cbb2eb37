#include "models/llama/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "ops/ops.h"

namespace mynah::llama {

Result<Model::Block> Model::Block::load(const Weights& w, const Config& c) {
  using Part = Projections::Part;
  const int64_t queries = c.heads * c.head_dim;
  const int64_t keys = c.key_width();
  Block block;
  MYNAH_TRY(block.attn_norm, RmsNorm::load(w / "attn_norm", c.width, c.norm_epsilon));
  if (w.has("attn_qkv.weight")) {
    const std::array parts = {Part{"attn_qkv", queries + 2 * keys}};
    MYNAH_TRY(block.qkv, Projections::load(w, parts, c.width));
  } else {
    const std::array parts = {Part{"attn_q", queries}, Part{"attn_k", keys}, Part{"attn_v", keys}};
    MYNAH_TRY(block.qkv, Projections::load(w, parts, c.width));
  }
  if (c.normed_heads) {
    MYNAH_TRY(block.q_norm, RmsNorm::load(w / "attn_q_norm", c.head_dim, c.norm_epsilon));
    MYNAH_TRY(block.k_norm, RmsNorm::load(w / "attn_k_norm", c.head_dim, c.norm_epsilon));
  }
  MYNAH_TRY(block.attn_out, Linear::load(w / "attn_output", {.in = queries, .out = c.width}));
  MYNAH_TRY(block.ffn_norm, RmsNorm::load(w / "ffn_norm", c.width, c.norm_epsilon));
  if (w.has("ffn_gate.weight")) {
    const std::array parts = {Part{"ffn_gate", c.feed_forward}, Part{"ffn_up", c.feed_forward}};
    MYNAH_TRY(block.gate_up, Projections::load(w, parts, c.width));
  } else {
    const std::array parts = {Part{"ffn_up", 2 * c.feed_forward}};
    MYNAH_TRY(block.gate_up, Projections::load(w, parts, c.width));
  }
  MYNAH_TRY(block.down, Linear::load(w / "ffn_down", {.in = c.feed_forward, .out = c.width}));
  if (c.normed_results) {
    MYNAH_TRY(block.post_attn_norm,
              RmsNorm::load(w / "post_attention_norm", c.width, c.norm_epsilon));
    MYNAH_TRY(block.post_ffn_norm, RmsNorm::load(w / "post_ffw_norm", c.width, c.norm_epsilon));
  }
  return block;
}

Status Model::take(const Weights& w) {
  const Config& c = config_;
  MYNAH_TRY(table_, w.table("token_embd.weight", {c.vocabulary, c.width}));
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    MYNAH_TRY(Block block, Block::load(w / "blk" / layer, c));
    blocks_.push_back(std::move(block));
  }
  MYNAH_TRY(norm_, RmsNorm::load(w / "output_norm", c.width, c.norm_epsilon));
  const Linear::Sizes head{.in = c.width, .out = c.vocabulary};
  if (w.has("output.weight")) {
    MYNAH_TRY(head_, Linear::load(w / "output", head));
  } else {
    MYNAH_TRY(head_, Linear::load_tied(w, "token_embd.weight", head));
  }
  return {};
}

Result<std::shared_ptr<const Model>> Model::load(const TensorFile& file, const Config& config,
                                                 const LoadOptions& options) {
  std::shared_ptr<Model> model(new Model);
  model->config_ = config;
  model->options_ = options;
  // The embedding table lies in the file: its bytes stay, the file's names and vocabulary go.
  const auto owner = std::make_shared<const std::vector<std::shared_ptr<const void>>>(file.owners);
  const Weights w(
      file.tensors, owner, *options.backend,
      {.storage = options.storage, .precision = options.precision, .cache = options.cache.get()});
  if (Status taken = model->take(w); !taken) {
    return std::unexpected(std::move(taken).error().while_doing(file.path));
  }
  model->steps_ = options.backend->make_step_runner();
  model->files_ = file.mapped;
  if (options.cache != nullptr) {
    (void)options.cache->commit();  // an unwritable cache costs time at the next start, no more
  }
  model->release_idle_memory();
  return model;
}

DType Model::cache_dtype() const {
  return options_.precision == Precision::Exact ? DType::F32 : DType::F16;
}

KvCache Model::new_cache(int64_t sequences, int64_t capacity, std::optional<DType> dtype) const {
  return {backend(),
          {.layers = config_.layers,
           .width = config_.key_width(),
           .sequences = sequences,
           .capacity = capacity},
          dtype.value_or(cache_dtype())};
}

Model::Step Model::plan(std::span<const Lane> lanes, const KvCache& cache) const {
  Step step{
      .past = cache.step(lanes), .queries = {}, .turns = {}, .local_turns = {}, .query_turns = {}};
  std::vector<int32_t> positions;
  for (const Lane& lane : lanes) {
    step.queries.add(lane.count);
    for (int64_t i = 0; i < lane.count; ++i) {
      positions.push_back(static_cast<int32_t>(cache.length(lane.sequence) + i));
    }
  }
  const bool is_long = config_.short_context > 0 && cache.sizes().capacity > config_.short_context;
  const Rotary& rotary = is_long ? config_.long_rotary : config_.rotary;
  step.turns = rotations(backend(), rotary, positions);
  if (config_.query_growth > 0) {
    std::vector<float> scales;
    scales.reserve(positions.size());
    for (const int32_t position : positions) {
      const int64_t contexts = position / config_.growth_context;
      scales.push_back(1.0F + config_.query_growth * std::log1p(static_cast<float>(contexts)));
    }
    step.query_turns = rotations(backend(), rotary, positions, scales);
  }
  if (config_.window > 0) {
    step.local_turns = rotations(backend(), config_.local_rotary, positions);
  }
  return step;
}

Model::QueriesKeys Model::queries_keys(const Block& block, int64_t layer, const Tensor& qkv,
                                       const Step& step) const {
  const Config& c = config_;
  const int64_t queries = c.heads * c.head_dim;
  const bool local = c.sees_window[static_cast<size_t>(layer)];
  const Rotary& rotary = local ? c.local_rotary : c.rotary;
  const Tensor& turns = local ? step.local_turns : step.turns;
  const auto turn = [&](const Tensor& x, int64_t heads, const Tensor& by) {
    return c.rotates[static_cast<size_t>(layer)] ? ops::rope(backend(), x, by, heads, rotary.pairs)
                                                 : x;
  };
  if (!c.normed_heads && !step.query_turns.defined()) {
    const Tensor both =
        turn(qkv.narrow(1, 0, queries + c.key_width()), c.heads + c.kv_heads, turns);
    return {both.narrow(1, 0, queries), both.narrow(1, queries, c.key_width())};
  }
  Tensor q = qkv.narrow(1, 0, queries);
  Tensor k = qkv.narrow(1, queries, c.key_width());
  if (c.normed_heads) {
    q = block.q_norm.of_heads(q);
    k = block.k_norm.of_heads(k);
  }
  return {turn(q, c.heads, step.query_turns.defined() ? step.query_turns : turns),
          turn(k, c.kv_heads, turns)};
}

Tensor Model::attention(const Block& block, int64_t layer, const Tensor& x, const Step& step,
                        const KvCache& cache) const {
  const Config& c = config_;
  const bool local = c.sees_window[static_cast<size_t>(layer)];
  const Tensor qkv = block.qkv(block.attn_norm(x));  // (tokens, queries + 2 key_width)
  const auto [q, k] = queries_keys(block, layer, qkv, step);
  const Tensor v = qkv.narrow(1, c.heads * c.head_dim + c.key_width(), c.key_width());
  cache.write(layer, k, v, step.past);
  const Tensor attended = ops::attention(backend(), q, cache.keys(layer), cache.values(layer),
                                         {.heads = c.heads,
                                          .kv_heads = c.kv_heads,
                                          .scale = c.attention_scale,
                                          .causal = true,
                                          .window = local ? c.window : 0,
                                          .queries = step.queries.spans(),
                                          .keys = step.past.keys,
                                          .pages = step.past.table(),
                                          .precision = options_.precision});
  if (c.normed_results) {
    return ops::add(backend(), x, block.post_attn_norm(block.attn_out(attended)));
  }
  return block.attn_out(attended, {.residual = &x});  // (tokens, width)
}

Tensor Model::feed_forward(const Block& block, const Tensor& x) const {
  const Tensor hidden = ops::gated(backend(), block.gate_up(block.ffn_norm(x)),
                                   {.activation = config_.activation});  // (tokens, feed_forward)
  if (config_.normed_results) {
    return ops::add(backend(), x, block.post_ffn_norm(block.down(hidden)));
  }
  return block.down(hidden, {.residual = &x});  // (tokens, width)
}

Tensor Model::forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                      KvCache& cache) const {
  cache.reserve(lanes);
  const Step step = plan(lanes, cache);
  const Tensor ids = ops::from_host(backend(), tokens, {std::ssize(tokens)});
  Tensor x = ops::embedding(backend(), table_, ids);  // (tokens, width)
  if (config_.embedding_scale != 1.0F) {
    x = ops::affine(backend(), x, config_.embedding_scale);
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = attention(blocks_[i], static_cast<int64_t>(i), x, step, cache);
    x = feed_forward(blocks_[i], x);
  }
  cache.advance(lanes);
  return norm_(x);  // (tokens, width)
}

Tensor Model::logits(const Tensor& hidden) const {
  Tensor logits = head_(hidden);  // (rows, vocabulary)
  if (config_.logit_cap == 0) {
    return logits;
  }
  const float cap = config_.logit_cap;
  return ops::affine(backend(), ops::tanh(backend(), ops::affine(backend(), logits, 1.0F / cap)),
                     cap);
}

void Model::release_idle_memory() const {
  backend().release_idle_memory();
  for (const auto& file : files_) {
    file->release_pages(file->bytes());
  }
  if (options_.cache != nullptr) {
    options_.cache->release_pages();
  }
}

}  // namespace mynah::llama
