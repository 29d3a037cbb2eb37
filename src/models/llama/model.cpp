#include "models/llama/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "ops/ops.h"

namespace mynah::llama {
namespace {

// From so many on the rows that they read of the table lie all over it, a page or more each: a
// prompt's tokens would hold a tenth of it, and the next one has others.
constexpr int64_t kManyTokens = 32;

}  // namespace

Result<Model::Block> Model::Block::load(const Weights& w, const Config& c, const LayerConfig& own) {
  Block block;
  block.backend = &w.backend();
  block.config = own;
  MYNAH_TRY_STATUS(own.attends ? block.take_attention(w, c) : block.take_recurrent(w, c));
  MYNAH_TRY_STATUS(block.take_feed_forward(w, c));
  if (c.layer_inputs > 0) {
    MYNAH_TRY(block.input, LayerInput::load(w, c));
  }
  if (w.has("layer_output_scale.weight")) {
    MYNAH_TRY(const Tensor scale, w.get("layer_output_scale.weight", {1}));
    block.output_scale = ops::to_host(w.backend(), scale).front();
  }
  return block;
}

Status Model::Block::take_recurrent(const Weights& w, const Config& c) {
  MYNAH_TRY(attn_norm, Norm::load(w / "attn_norm", c));
  if (c.recurrence == Recurrence::ShortConv) {
    MYNAH_TRY(short_conv, ShortConv::load(w, c, config.cache));
  } else {
    MYNAH_TRY(delta_net, DeltaNet::load(w, c, config.cache));
  }
  return {};
}

Status Model::Block::take_attention(const Weights& w, const Config& c) {
  using Part = Projections::Part;
  const int64_t queries = c.heads * config.head_dim;
  const int64_t keys = config.key_width();
  if (c.normed_inputs) {
    MYNAH_TRY(attn_norm, Norm::load(w / "attn_norm", c));
  }
  std::vector<Part> parts = {{"attn_q", queries}};
  if (c.gated_attention) {
    MYNAH_TRY(gated_q, Linear::load(w / "attn_q", {.in = c.width, .out = 2 * queries}));
    parts = {{"attn_k", keys}, {"attn_v", keys}};
  } else if (w.has("attn_qkv.weight")) {
    parts = {{"attn_qkv", queries + 2 * keys}};
  } else if (config.writes_keys) {
    parts.push_back({"attn_k", keys});
    if (!config.values_are_keys) {
      parts.push_back({"attn_v", keys});
    }
  }
  MYNAH_TRY(qkv, Projections::load(w, parts, c.width));
  if (c.normed_heads) {
    const int64_t columns = c.whole_norms ? queries : config.head_dim;
    MYNAH_TRY(q_norm, RmsNorm::load(w / "attn_q_norm", columns, c.norm_epsilon));
  }
  if (c.normed_heads && config.writes_keys) {
    const int64_t columns = c.whole_norms ? keys : config.head_dim;
    MYNAH_TRY(k_norm, RmsNorm::load(w / "attn_k_norm", columns, c.norm_epsilon));
  }
  if (c.normed_values) {
    const std::vector<float> ones(static_cast<size_t>(config.head_dim), 1.0F);
    v_norm =
        RmsNorm(w.backend(), ops::from_host(w.backend(), ones, {config.head_dim}), c.norm_epsilon);
  }
  if (c.sinks) {
    MYNAH_TRY(sinks, w.get("attn_sinks.weight", {c.heads}));
  }
  if (c.attention_gate) {
    MYNAH_TRY(attn_gate, Linear::load(w / "attn_gate", {.in = c.width, .out = queries}));
  }
  MYNAH_TRY(attn_out, Linear::load(w / "attn_output", {.in = queries, .out = c.width}));
  if (c.normed_results) {
    MYNAH_TRY(post_attn_norm, RmsNorm::load(w / "post_attention_norm", c.width, c.norm_epsilon));
  }
  return {};
}

Status Model::Block::take_feed_forward(const Weights& w, const Config& c) {
  using Part = Projections::Part;
  const int64_t inner = config.feed_forward;
  if (c.normed_inputs && !c.parallel_parts) {
    MYNAH_TRY(ffn_norm, Norm::load(w / c.ffn_norm, c));
  }
  if (inner > 0) {
    const bool gated = c.feed_forward == FeedForward::Gated;
    std::vector<Part> parts = {{"ffn_up", gated ? 2 * inner : inner}};
    if (w.has("ffn_gate.weight")) {
      if (!gated) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("wanted no tensor ffn_gate.weight in a block of {}, found one",
                                c.architecture));
      }
      parts = {{"ffn_gate", inner}, {"ffn_up", inner}};
    }
    MYNAH_TRY(gate_up, Projections::load(w, parts, c.width));
    MYNAH_TRY(down, Linear::load(w / "ffn_down", {.in = inner, .out = c.width}));
  }
  if (config.experts) {
    MYNAH_TRY(experts, Experts::load(w, c));
  }
  if (config.experts && inner > 0) {
    MYNAH_TRY(experts_norm, RmsNorm::load(w / "pre_ffw_norm_2", c.width, c.norm_epsilon));
    MYNAH_TRY(post_dense_norm, RmsNorm::load(w / "post_ffw_norm_1", c.width, c.norm_epsilon));
    MYNAH_TRY(post_experts_norm, RmsNorm::load(w / "post_ffw_norm_2", c.width, c.norm_epsilon));
    MYNAH_TRY(const Tensor scale, w.get("ffn_gate_inp.scale", {c.width}));
    const float by_width = 1.0F / std::sqrt(static_cast<float>(c.width));
    router_norm = RmsNorm(w.backend(), ops::affine(w.backend(), scale, by_width), c.norm_epsilon);
  }
  if (c.normed_results) {
    MYNAH_TRY(post_ffn_norm, RmsNorm::load(w / "post_ffw_norm", c.width, c.norm_epsilon));
  }
  return {};
}

Status Model::take(const Weights& lower, const Weights& upper) {
  const Config& c = config_;
  MYNAH_TRY(table_, lower.table("token_embd.weight", {c.vocabulary, c.width}));
  if (c.layer_inputs > 0) {
    MYNAH_TRY(layer_inputs_, LayerInputs::load(lower, c));
  }
  for (const LayerConfig& own : c.layer) {
    const int64_t layer = std::ssize(blocks_);
    const Weights& w = layer < options_.lower.count ? lower : upper;
    MYNAH_TRY(Block block, Block::load(w / "blk" / layer, c, own));
    blocks_.push_back(std::move(block));
  }
  MYNAH_TRY(norm_, Norm::load(upper / c.last_norm, c));
  const Linear::Sizes head{.in = c.width, .out = c.vocabulary};
  if (upper.has("output.weight")) {
    MYNAH_TRY(head_, Linear::load(upper / "output", head));
  } else {
    MYNAH_TRY(head_, Linear::load_tied(upper, "token_embd.weight", head));
  }
  return {};
}

Backend& Model::backend_of(int64_t layer) const {
  return layer < options_.lower.count ? *options_.lower.backend : *options_.backend;
}

Result<std::shared_ptr<const Model>> Model::load(const TensorFile& file, const Config& config,
                                                 const LoadOptions& options) {
  std::shared_ptr<Model> model(new Model);
  model->config_ = config;
  model->options_ = options;
  // The embedding table lies in the file: its bytes stay, the file's names and vocabulary go.
  const auto owner = std::make_shared<const std::vector<std::shared_ptr<const void>>>(file.owners);
  const auto weights = [&](Backend& backend, BlobCache* cache) {
    return Weights(file.tensors, owner, backend,
                   {.storage = options.storage, .precision = options.precision, .cache = cache});
  };
  const LowerLayers& lower = options.lower;
  const Weights upper = weights(*options.backend, options.cache.get());
  if (Status taken =
          model->take(lower.count > 0 ? weights(*lower.backend, lower.cache.get()) : upper, upper);
      !taken) {
    return std::unexpected(std::move(taken).error().while_doing(file.path));
  }
  // What goes through the host between two operations is no step that a device may keep.
  model->steps_ = lower.count > 0 ? make_plain_step_runner(*options.backend)
                                  : options.backend->make_step_runner();
  model->files_ = file.mapped;
  for (BlobCache* const cache : {options.cache.get(), lower.cache.get()}) {
    if (cache != nullptr) {
      (void)cache->commit();  // an unwritable cache costs time at the next start, no more
    }
  }
  model->release_idle_memory();
  return model;
}

KvCache Model::new_cache(int64_t sequences, int64_t capacity, std::optional<DType> dtype) const {
  const KvCache::Sizes sizes{.layers = std::ssize(config_.cache_widths()),
                             .sequences = sequences,
                             .capacity = capacity,
                             .widths = config_.cache_widths(),
                             .states = config_.states(),
                             .windows = config_.cache_windows(),
                             .rewinds = kRewinds,
                             .in_place = true};
  const DType kept = dtype.value_or(cache_dtype());
  const LowerLayers& lower = options_.lower;
  if (lower.count == 0) {
    return {backend(), sizes, kept};
  }
  const Config below = config_.first_layers(lower.count);
  const auto layers = std::ssize(below.cache_widths());
  const auto states = std::ssize(below.states());
  return {std::array{KvCache::Share{.backend = lower.backend, .layers = layers, .states = states},
                     KvCache::Share{.backend = options_.backend,
                                    .layers = sizes.layers - layers,
                                    .states = std::ssize(sizes.states) - states}},
          sizes, kept};
}

Model::Step Model::plan(std::span<const Lane> lanes, const KvCache& cache, size_t share) const {
  const bool is_lower = share == 0 && options_.lower.count > 0;
  Backend& on = is_lower ? *options_.lower.backend : backend();
  Step step{.past = cache.step(lanes, share),
            .queries = {},
            .turns = {},
            .local_turns = {},
            .query_turns = {}};
  std::vector<int32_t> positions;
  for (const Lane& lane : lanes) {
    step.queries.add(lane.count);
    for (int64_t i = 0; i < lane.count; ++i) {
      positions.push_back(static_cast<int32_t>(cache.length(lane.sequence) + i));
    }
  }
  const bool is_long = config_.short_context > 0 && cache.sizes().capacity > config_.short_context;
  const Rotary& rotary = is_long ? config_.long_rotary : config_.rotary;
  step.turns = rotations(on, rotary, positions);
  if (config_.query_growth > 0) {
    std::vector<float> scales;
    scales.reserve(positions.size());
    for (const int32_t position : positions) {
      const int64_t contexts = position / config_.growth_context;
      scales.push_back(1.0F + config_.query_growth * std::log1p(static_cast<float>(contexts)));
    }
    step.query_turns = rotations(on, rotary, positions, scales);
  }
  if (config_.window > 0) {
    step.local_turns = rotations(on, config_.local_rotary, positions);
  }
  return step;
}

Model::QueriesKeys Model::queries_keys(const Block& block, const Tensor& gated_q, const Tensor& qkv,
                                       const Step& step) const {
  const LayerConfig& own = block.config;
  const int64_t heads = config_.heads;
  const int64_t queries = heads * own.head_dim;
  const Rotary& rotary = own.sees_window ? config_.local_rotary : config_.rotary;
  const Tensor& turns = own.sees_window ? step.local_turns : step.turns;
  const auto turn = [&](const Tensor& x, int64_t of, const Tensor& by) {
    return own.rotates ? ops::rope(*block.backend, x, by, of, rotary.pairs) : x;
  };
  if (!config_.normed_heads && !step.query_turns.defined()) {
    const Tensor both =
        turn(qkv.narrow(1, 0, queries + own.key_width()), heads + own.kv_heads, turns);
    return {both.narrow(1, 0, queries), both.narrow(1, queries, own.key_width())};
  }
  const auto normed = [&](const Tensor& x, const RmsNorm& norm) {
    if (!config_.normed_heads) {
      return x;
    }
    return config_.whole_norms ? norm(x) : norm.of_heads(x);
  };
  const auto placed = [&](const Tensor& x, const RmsNorm& norm, int64_t of, const Tensor& by) {
    return config_.turned_first ? normed(turn(x, of, by), norm) : turn(normed(x, norm), of, by);
  };
  const Tensor& query_turns = step.query_turns.defined() ? step.query_turns : turns;
  Tensor q;
  if (gated_q.defined()) {
    q = block.q_norm(gated_q.narrow(1, 0, own.head_dim)).reshape({qkv.dim(0), queries});
    q = turn(q, heads, query_turns);
  } else {
    q = placed(qkv.narrow(1, 0, queries), block.q_norm, heads, query_turns);
  }
  if (!own.writes_keys) {
    return {q, {}};
  }
  const Tensor k = qkv.narrow(1, gated_q.defined() ? 0 : queries, own.key_width());
  return {q, placed(k, block.k_norm, own.kv_heads, turns)};
}

Tensor Model::input_of(const Norm& norm, const Tensor& x) const {
  return config_.normed_inputs ? norm(x) : x;
}

Tensor Model::add_to(const Block& block, const Tensor& x, const Tensor& made) const {
  const float scale = config_.residual_scale;
  return ops::add(*block.backend, x,
                  scale == 1.0F ? made : ops::affine(*block.backend, made, scale));
}

Tensor Model::attention(const Block& block, const Tensor& x, const Step& step,
                        const KvCache& cache) const {
  const Config& c = config_;
  const LayerConfig& own = block.config;
  const Tensor normed = input_of(block.attn_norm, x);
  const Tensor qkv = block.qkv(normed);  // (tokens, queries + 2 key_width)
  Tensor gated_q;
  if (c.gated_attention) {
    gated_q = block.gated_q(normed).reshape({x.dim(0) * c.heads, 2 * own.head_dim});
  }
  const auto [q, k] = queries_keys(block, gated_q, qkv, step);
  if (own.writes_keys) {
    const int64_t keys = c.gated_attention ? 0 : c.heads * own.head_dim;
    const int64_t values = own.values_are_keys ? keys : keys + own.key_width();
    Tensor v = qkv.narrow(1, values, own.key_width());
    if (c.normed_values) {
      v = block.v_norm.of_heads(v);
    }
    cache.write(own.cache, k, v, step.past);
  }
  Tensor attended =
      ops::attention(*block.backend, q, cache.keys(own.cache), cache.values(own.cache),
                     {.heads = c.heads,
                      .kv_heads = own.kv_heads,
                      .scale = c.attention_scale,
                      .causal = true,
                      .window = own.sees_window ? c.window : 0,
                      .queries = step.queries.spans(),
                      .keys = cache.spans(own.cache, step.past),
                      .pages = cache.table(own.cache, step.past),
                      .score_cap = c.score_cap,
                      .sinks = c.sinks ? &block.sinks : nullptr,
                      .precision = options_.precision});
  if (c.gated_attention) {
    const Tensor gates =
        ops::sigmoid(*block.backend, gated_q.narrow(1, own.head_dim, own.head_dim));
    attended = ops::mul(*block.backend, attended, gates.reshape(attended.shape()));
  }
  if (c.attention_gate) {
    const Tensor gates = ops::sigmoid(*block.backend, block.attn_gate(normed));
    attended = ops::mul(*block.backend, attended, gates);
  }
  if (c.normed_results) {
    return add_to(block, x, block.post_attn_norm(block.attn_out(attended)));
  }
  if (c.residual_scale != 1.0F) {
    return add_to(block, x, block.attn_out(attended));
  }
  return block.attn_out(attended, {.residual = &x});  // (tokens, width)
}

Tensor Model::mix(const Block& block, const Tensor& x, const Step& step,
                  const KvCache& cache) const {
  const RecurrentStep recurrent{
      .cache = &cache, .tokens = &step.queries, .slots = &step.past.slots};
  if (block.short_conv) {
    return (*block.short_conv)(block.attn_norm(x), x, recurrent);
  }
  if (block.delta_net) {
    return (*block.delta_net)(block.attn_norm(x), x, recurrent);
  }
  return attention(block, x, step, cache);
}

Tensor Model::dense_hidden(const Block& block, const Tensor& x) const {
  Backend& backend = *block.backend;
  const Tensor opened = block.gate_up(x);
  switch (config_.feed_forward) {
    case FeedForward::Gated:
      break;
    case FeedForward::Gelu:
      return ops::gelu_tanh(backend, opened);
    case FeedForward::SquaredRelu: {
      const Tensor rectified = ops::relu(backend, opened);
      return ops::mul(backend, rectified, rectified);
    }
  }
  return ops::gated(backend, opened, config_.gate);
}

Tensor Model::of_experts(const Block& block, const Tensor& x) const {
  if (block.config.feed_forward == 0) {
    const Tensor normed = input_of(block.ffn_norm, x);
    return block.experts(normed, normed);
  }
  const Tensor dense = block.down(dense_hidden(block, block.ffn_norm(x)));
  const Tensor routed = block.experts(block.experts_norm(x), block.router_norm(x));
  return ops::add(*block.backend, block.post_dense_norm(dense), block.post_experts_norm(routed));
}

Tensor Model::feed_forward(const Block& block, const Tensor& x) const {
  if (block.config.experts) {
    const Tensor made = of_experts(block, x);
    return add_to(block, x, config_.normed_results ? block.post_ffn_norm(made) : made);
  }
  const Tensor hidden = dense_hidden(block, input_of(block.ffn_norm, x));
  if (config_.normed_results) {
    return add_to(block, x, block.post_ffn_norm(block.down(hidden)));
  }
  if (config_.residual_scale != 1.0F) {
    return add_to(block, x, block.down(hidden));
  }
  return block.down(hidden, {.residual = &x});
}

Tensor Model::pass(const Block& block, const Tensor& x, const Step& step,
                   const KvCache& cache) const {
  const Tensor mixed = mix(block, x, step, cache);
  if (!config_.parallel_parts) {
    return feed_forward(block, mixed);
  }
  return block.down(dense_hidden(block, block.attn_norm(x)), {.residual = &mixed});
}

void Model::release_table() const {
  for (const auto& file : files_) {
    const std::span<const std::byte> bytes = file->bytes();
    const std::less<> before;
    if (!before(table_.raw(), bytes.data()) && before(table_.raw(), bytes.data() + bytes.size())) {
      file->release_pages({table_.raw(), storage_bytes(table_.dtype(), table_.elements())});
    }
  }
}

Tensor Model::forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                      KvCache& cache) const {
  cache.reserve(lanes);
  const int64_t lower = options_.lower.count;
  Step step = plan(lanes, cache, 0);
  Backend& first = backend_of(0);
  const Tensor ids = ops::from_host(first, tokens, {std::ssize(tokens)});
  Tensor x = ops::embedding(first, table_, ids);  // (tokens, width)
  if (std::ssize(tokens) >= kManyTokens) {
    release_table();
  }
  if (config_.embedding_scale != 1.0F) {
    x = ops::affine(first, x, config_.embedding_scale);
  }
  Tensor inputs;  // (tokens, layers * layer_inputs)
  if (config_.layer_inputs > 0) {
    inputs = layer_inputs_(ids, x);
  }
  for (int64_t i = 0; i < config_.layers; ++i) {
    if (i == lower && lower > 0) {
      step = plan(lanes, cache, 1);
      x = moved_up(x);
      inputs = inputs.defined() ? moved_up(inputs) : inputs;
    }
    const Block& block = blocks_[static_cast<size_t>(i)];
    x = pass(block, x, step, cache);
    if (inputs.defined()) {
      const int64_t columns = config_.layer_inputs;
      x = block.input(x, inputs.narrow(1, i * columns, columns));
    }
    if (block.output_scale != 1.0F) {
      x = ops::affine(*block.backend, x, block.output_scale);
    }
  }
  cache.advance(lanes);
  return norm_(x);  // (tokens, width)
}

Tensor Model::moved_up(const Tensor& x) const {
  return ops::from_host(backend(), ops::to_host(*options_.lower.backend, x), x.shape());
}

Tensor Model::logits(const Tensor& hidden) const {
  Tensor logits = head_(hidden);  // (rows, vocabulary)
  if (config_.logit_scale != 1.0F) {
    logits = ops::affine(backend(), logits, config_.logit_scale);
  }
  if (config_.logit_cap == 0) {
    return logits;
  }
  const float cap = config_.logit_cap;
  return ops::affine(backend(), ops::tanh(backend(), ops::affine(backend(), logits, 1.0F / cap)),
                     cap);
}

void Model::release_idle_memory() const {
  backend().release_idle_memory();
  backend_of(0).release_idle_memory();
  for (const auto& file : files_) {
    file->release_pages(file->bytes());
  }
  for (const auto& cache : {options_.cache, options_.lower.cache}) {
    if (cache != nullptr) {
      cache->release_pages();
    }
  }
}

}  // namespace mynah::llama
