#include "models/llama/recurrent.h"

#include <array>
#include <cmath>
#include <vector>

#include "nn/beside.h"
#include "ops/ops.h"

namespace mynah::llama {
namespace {

// A convolution's taps as ops::short_conv() takes them, of a tensor (channels, taps).
Result<Tensor> load_taps(const Weights& w, std::string_view name, int64_t channels, int64_t taps) {
  MYNAH_TRY(const Tensor stored, w.get(name, {channels, taps}));
  return ops::transpose(w.backend(), stored);
}

// x (rows, heads * columns) -> (rows, heads * times * columns): each head so many times in a row.
Tensor repeat_heads(Backend& backend, const Tensor& x, int64_t columns, int64_t times) {
  const int64_t heads = x.elements() / columns;
  const Tensor all = ops::empty(backend, {heads, times, columns});
  const Tensor once = x.reshape({heads, 1, columns});
  for (int64_t time = 0; time < times; ++time) {
    ops::copy_into(backend, once, all.narrow(1, time, 1));
  }
  return all.reshape({x.dim(0), x.dim(1) * times});
}

}  // namespace

Result<ShortConv> ShortConv::load(const Weights& w, const Config& c, int64_t state) {
  ShortConv layer;
  layer.backend_ = &w.backend();
  layer.width_ = c.width;
  layer.state_ = state;
  MYNAH_TRY(layer.in_, Linear::load(w / "shortconv.in_proj", {.in = c.width, .out = 3 * c.width}));
  MYNAH_TRY(layer.taps_, load_taps(w, "shortconv.conv.weight", c.width, c.conv_taps));
  MYNAH_TRY(layer.out_, Linear::load(w / "shortconv.out_proj", {.in = c.width, .out = c.width}));
  return layer;
}

Tensor ShortConv::operator()(const Tensor& x, const Tensor& residual,
                             const RecurrentStep& step) const {
  const Tensor bcx = in_(x);  // (tokens, 3 width)
  const Tensor seen =
      ops::mul(*backend_, bcx.narrow(1, 0, width_), bcx.narrow(1, 2 * width_, width_));
  const Tensor mixed = ops::short_conv(*backend_, seen, *step.tokens, taps_, Activation::None,
                                       *step.slots, step.cache->state(state_));
  return out_(ops::mul(*backend_, bcx.narrow(1, width_, width_), mixed), {.residual = &residual});
}

Result<DeltaNet> DeltaNet::load(const Weights& w, const Config& c, int64_t state) {
  DeltaNet layer;
  layer.backend_ = &w.backend();
  layer.heads_ = c.delta_heads;
  layer.key_heads_ = c.delta_key_heads;
  layer.grouped_ = c.grouped_deltas;
  layer.columns_ = c.delta_columns;
  layer.state_ = state;
  const int64_t values = c.delta_value_width();
  const int64_t all = 2 * c.delta_key_width() + values;
  if (w.has("ssm_in.weight")) {
    MYNAH_TRY(layer.all_by_head_, Linear::load(w / "ssm_in", {.in = c.width, .out = all + values}));
  } else {
    MYNAH_TRY(layer.qkv_, Linear::load(w / "attn_qkv", {.in = c.width, .out = all}));
    MYNAH_TRY(layer.gate_, Linear::load(w / "attn_gate", {.in = c.width, .out = values}));
  }
  if (w.has("ssm_ba.weight")) {
    MYNAH_TRY(layer.beta_alpha_by_head_,
              Linear::load(w / "ssm_ba", {.in = c.width, .out = 2 * c.delta_heads}));
  } else {
    const std::array parts = {Projections::Part{"ssm_beta", c.delta_heads},
                              Projections::Part{"ssm_alpha", c.delta_heads}};
    MYNAH_TRY(layer.beta_alpha_, Projections::load(w, parts, c.width));
  }
  MYNAH_TRY(layer.taps_, load_taps(w, "ssm_conv1d.weight", all, c.conv_taps));
  MYNAH_TRY(layer.alpha_bias_, w.get("ssm_dt.bias", {c.delta_heads}));
  MYNAH_TRY(layer.decays_, w.get("ssm_a", {c.delta_heads}));
  // x / sqrt(sum of x^2 + epsilon) is an RMS norm, of a mean that is the sum's n-th part.
  const auto columns = static_cast<float>(c.delta_columns);
  const std::vector<float> unit(static_cast<size_t>(c.delta_columns), 1.0F / std::sqrt(columns));
  layer.unit_ = RmsNorm(w.backend(), ops::from_host(w.backend(), unit, {c.delta_columns}),
                        c.norm_epsilon / columns);
  // Queries are to be shorter by sqrt(columns), and with them what the norm behind the rule gets:
  // with an epsilon that is larger by as much squared it gives the same.
  MYNAH_TRY(layer.norm_, RmsNorm::load(w / "ssm_norm", c.delta_columns, c.norm_epsilon * columns));
  MYNAH_TRY(layer.out_, Linear::load(w / "ssm_out", {.in = values, .out = c.width}));
  return layer;
}

DeltaNet::Inputs DeltaNet::inputs(const Tensor& x) const {
  Backend& backend = *backend_;
  const int64_t tokens = x.dim(0);
  const int64_t each = heads_ / key_heads_;  // heads of values that a head of keys has
  // Columns of each head of keys, (tokens * key_heads, any), together.
  const auto part = [&](const Tensor& of_heads, int64_t begin, int64_t columns) {
    return ops::contiguous(backend, of_heads.narrow(1, begin, columns))
        .reshape({tokens, key_heads_ * columns});
  };
  Inputs made;
  if (all_by_head_) {
    const int64_t values = each * columns_;
    const Tensor all = (*all_by_head_)(x).reshape({tokens * key_heads_, 2 * columns_ + 2 * values});
    const std::array parts = {part(all, 0, columns_), part(all, columns_, columns_),
                              part(all, 2 * columns_, values)};
    made.qkv = beside(backend, parts);
    made.gate = part(all, 2 * columns_ + values, values);
  } else {
    made.qkv = qkv_(x);
    made.gate = gate_(x);
  }
  if (beta_alpha_by_head_) {
    const Tensor both = (*beta_alpha_by_head_)(x).reshape({tokens * key_heads_, 2 * each});
    made.beta = part(both, 0, each);
    made.alpha = part(both, each, each);
  } else {
    const Tensor both = beta_alpha_(x);
    made.beta = both.narrow(1, 0, heads_);
    made.alpha = both.narrow(1, heads_, heads_);
  }
  return made;
}

Tensor DeltaNet::operator()(const Tensor& x, const Tensor& residual,
                            const RecurrentStep& step) const {
  Backend& backend = *backend_;
  const int64_t keys = key_heads_ * columns_;
  const int64_t values = heads_ * columns_;
  const Inputs in = inputs(x);
  const Tensor mixed = ops::short_conv(backend, in.qkv, *step.tokens, taps_, Activation::Silu,
                                       *step.slots, step.cache->state(state_));
  // The rule gives head h the keys of h % key_heads: where they are those of a group of heads, they
  // stand there as often.
  const bool repeats = grouped_ && key_heads_ < heads_;
  const int64_t key_heads = repeats ? heads_ : key_heads_;
  const int64_t read_keys = key_heads * columns_;
  Tensor units = unit_.of_heads(mixed.narrow(1, 0, 2 * keys));
  if (repeats) {
    units = repeat_heads(backend, units, columns_, heads_ / key_heads_);
  }
  const Tensor betas = ops::sigmoid(backend, in.beta);
  const Tensor steps = ops::softplus(backend, ops::add(backend, in.alpha, alpha_bias_));
  const Tensor gates = ops::mul(backend, steps, decays_);
  const Tensor read =
      ops::delta_rule(backend, units.narrow(1, 0, read_keys), units.narrow(1, read_keys, read_keys),
                      mixed.narrow(1, 2 * keys, values), *step.tokens,
                      {.heads = heads_, .key_heads = key_heads, .gates = &gates, .betas = &betas},
                      *step.slots, step.cache->state(state_ + 1));
  const Tensor let_through = ops::mul(backend, norm_.of_heads(read), ops::silu(backend, in.gate));
  return out_(let_through, {.residual = &residual});
}

}  // namespace mynah::llama
