#include "models/llama/experts.h"

#include <array>

#include "nn/beside.h"

namespace mynah::llama {

Result<SharedExpert> SharedExpert::load(const Weights& w, const Config& c) {
  SharedExpert expert;
  expert.backend_ = &w.backend();
  expert.gate_ = c.gate;
  const std::array parts = {Projections::Part{"ffn_gate_shexp", c.shared_columns},
                            Projections::Part{"ffn_up_shexp", c.shared_columns}};
  MYNAH_TRY(expert.gate_up_, Projections::load(w, parts, c.width));
  MYNAH_TRY(expert.down_,
            Linear::load(w / "ffn_down_shexp", {.in = c.shared_columns, .out = c.width}));
  constexpr std::string_view kDoor = "ffn_gate_inp_shexp.weight";
  if (w.has(kDoor)) {
    MYNAH_TRY(const Shape stored, w.shape(kDoor));
    MYNAH_TRY(const Tensor door,
              w.get(kDoor, stored.rank() == 1 ? Shape{c.width} : Shape{1, c.width}));
    expert.door_ = door.reshape({c.width});
  }
  return expert;
}

Tensor SharedExpert::operator()(const Tensor& x, const Tensor& others) const {
  const Tensor hidden = ops::gated(*backend_, gate_up_(x), gate_);
  if (!door_.defined()) {
    return down_(hidden, {.residual = &others});
  }
  const int64_t rows = x.dim(0);
  const Tensor open = ops::sigmoid(*backend_, ops::sum(*backend_, ops::mul(*backend_, x, door_)));
  const Tensor made = down_(hidden);
  const Tensor let_through =
      ops::matmul(*backend_, open.reshape({rows, 1, 1}), made.reshape({rows, 1, made.dim(1)}));
  return ops::add(*backend_, others, let_through.reshape(made.shape()));
}

Result<Experts> Experts::load(const Weights& w, const Config& c) {
  using Names = std::span<const std::string_view>;
  static constexpr std::array<std::string_view, 2> kGateUp = {"ffn_gate_exps", "ffn_up_exps"};
  static constexpr std::array<std::string_view, 1> kBoth = {"ffn_gate_up_exps"};
  static constexpr std::array<std::string_view, 1> kDown = {"ffn_down_exps"};
  Experts block;
  block.backend_ = &w.backend();
  block.used_ = c.used_experts;
  block.gate_ = c.gate;
  block.scores_of_ = c.expert_scores;
  block.normed_shares_ = c.normed_shares;
  block.scale_ = c.expert_scale;
  MYNAH_TRY(block.router_, Linear::load(w / "ffn_gate_inp", {.in = c.width, .out = c.experts}));
  const auto take = [&](Names names, int64_t out) -> Status {
    MYNAH_TRY(
        ExpertLinear linear,
        ExpertLinear::load_stacked(w, names, {.experts = c.experts, .in = c.width, .out = out}));
    block.gate_up_.push_back(std::move(linear));
    return {};
  };
  if (w.has("ffn_gate_up_exps.weight")) {
    MYNAH_TRY_STATUS(take(kBoth, 2 * c.expert_columns));
  } else {
    MYNAH_TRY(const DType gate, w.dtype("ffn_gate_exps.weight"));
    MYNAH_TRY(const DType up, w.dtype("ffn_up_exps.weight"));
    if (gate == up) {
      MYNAH_TRY_STATUS(take(kGateUp, 2 * c.expert_columns));
    } else {
      MYNAH_TRY_STATUS(take(Names(kGateUp).first(1), c.expert_columns));
      MYNAH_TRY_STATUS(take(Names(kGateUp).last(1), c.expert_columns));
    }
  }
  MYNAH_TRY(block.down_,
            ExpertLinear::load_stacked(
                w, kDown, {.experts = c.experts, .in = c.expert_columns, .out = c.width}));
  if (w.has("ffn_down_exps.scale")) {
    MYNAH_TRY(const Tensor scales, w.get("ffn_down_exps.scale", {c.experts}));
    block.scales_ = scales.reshape({c.experts, 1});
  }
  if (w.has("exp_probs_b.bias")) {
    MYNAH_TRY(block.choice_bias_, w.get("exp_probs_b.bias", {c.experts}));
  }
  if (c.expert_groups > 1) {
    const int64_t each = c.experts / c.expert_groups;
    std::vector<float> ones(static_cast<size_t>(c.expert_groups * c.experts));
    for (int64_t i = 0; i < c.experts; ++i) {
      ones[static_cast<size_t>(i / each * c.experts + i)] = 1.0F;
    }
    block.group_rows_ = ops::from_host(w.backend(), ones, {c.expert_groups, c.experts});
    block.used_groups_ = c.used_groups;
  }
  if (block.choice_bias_.defined() || block.group_rows_.defined() ||
      c.expert_scores == ExpertScores::Sigmoid) {
    std::vector<float> ones(static_cast<size_t>(c.experts * c.experts));
    for (int64_t i = 0; i < c.experts; ++i) {
      ones[static_cast<size_t>(i * c.experts + i)] = 1.0F;
    }
    block.unit_rows_ = ops::from_host(w.backend(), ones, {c.experts, c.experts});
  }
  if (w.has("ffn_up_shexp.weight")) {
    MYNAH_TRY(block.shared_, SharedExpert::load(w, c));
  }
  return block;
}

ops::SampledTokens Experts::highest(const Tensor& values, int64_t count) const {
  const std::vector<SampleRow> rows(static_cast<size_t>(values.dim(0)));
  return ops::sample(*backend_, values, {.rows = rows, .top = static_cast<int32_t>(count)});
}

Tensor Experts::of_best_groups(const Tensor& values) const {
  Backend& backend = *backend_;
  const int64_t rows = values.dim(0);
  const int64_t groups = group_rows_.dim(0);
  const int64_t experts = group_rows_.dim(1);
  const Tensor by_group = values.reshape({rows * groups, experts / groups});
  // Logarithms differ as what they are of: the second highest is the highest and their difference.
  const Tensor two = highest(by_group, 2).log_probabilities;
  const Tensor apart = ops::sub(backend, two.narrow(1, 1, 1), two.narrow(1, 0, 1));
  const Tensor both = ops::add(backend, ops::affine(backend, ops::max(backend, by_group), 2.0F),
                               apart.reshape({rows * groups}));
  const Tensor best = highest(both.reshape({rows, groups}), used_groups_).ids;
  const Tensor own = ops::gather_rows(backend, group_rows_, best.reshape({rows * used_groups_}));
  // Made of numbers that are there: a step that is replayed takes nothing from the host.
  const Tensor ones = ops::affine(backend, values.narrow(1, 0, used_groups_), 0.0F, 1.0F)
                          .reshape({rows, 1, used_groups_});
  const Tensor within = ops::matmul(backend, ones, own.reshape({rows, used_groups_, experts}));
  constexpr float kOutOfReach = 1e30F;
  return ops::add(backend, values,
                  ops::affine(backend, within.reshape({rows, experts}), kOutOfReach, -kOutOfReach));
}

// The softmax of all experts, of which the likeliest are taken and their shares made to add up to
// one, is the softmax of those.
Experts::Routes Experts::by_softmax(const Tensor& logits) const {
  const ops::SampledTokens likeliest = highest(logits, used_);
  return {likeliest.ids, normed_shares_ ? ops::softmax(*backend_, likeliest.log_probabilities)
                                        : ops::exp(*backend_, likeliest.log_probabilities)};
}

Experts::Routes Experts::by_scores(const Tensor& logits) const {
  const bool sigmoid = scores_of_ == ExpertScores::Sigmoid;
  const Tensor scores = sigmoid ? ops::sigmoid(*backend_, logits) : ops::softmax(*backend_, logits);
  Tensor values = choice_bias_.defined() ? ops::add(*backend_, scores, choice_bias_) : scores;
  if (group_rows_.defined()) {
    values = of_best_groups(values);
  }
  const Tensor ids = highest(values, used_).ids;
  // The chosen ones' scores: a product with a row of zeros and a one is exact.
  const int64_t rows = scores.dim(0);
  const int64_t experts = scores.dim(1);
  const Tensor ones = ops::gather_rows(*backend_, unit_rows_, ids.reshape({rows * used_}));
  const Tensor chosen = ops::matmul(*backend_, scores.reshape({rows, 1, experts}),
                                    ones.reshape({rows, used_, experts}), /*transpose_b=*/true)
                            .reshape({rows, used_});
  if (!normed_shares_) {
    return {ids, chosen};
  }
  // Numbers over their sum are the softmax of their logarithms; none of them is nothing.
  constexpr float kLeast = 1e-20F;
  const Tensor logarithms =
      ops::log(*backend_, ops::affine(*backend_, chosen, /*scale=*/1.0F, /*shift=*/kLeast));
  return {ids, ops::softmax(*backend_, logarithms)};
}

Experts::Routes Experts::routes(const Tensor& asked) const {
  const Tensor logits = router_(asked);  // (rows, experts)
  auto [experts, shares] = unit_rows_.defined() ? by_scores(logits) : by_softmax(logits);
  if (scale_ != 1.0F) {
    shares = ops::affine(*backend_, shares, scale_);
  }
  if (scales_.defined()) {
    const Tensor flat = experts.reshape({experts.elements()});
    shares = ops::mul(*backend_, shares,
                      ops::gather_rows(*backend_, scales_, flat).reshape(shares.shape()));
  }
  return {experts, shares};
}

Tensor Experts::operator()(const Tensor& x, const Tensor& asked) const {
  const auto [experts, shares] = routes(asked);
  std::vector<Tensor> halves;
  halves.reserve(gate_up_.size());
  for (const ExpertLinear& linear : gate_up_) {
    halves.push_back(linear(x, experts));
  }
  const Tensor opened = halves.size() == 1 ? std::move(halves.front()) : beside(*backend_, halves);
  const Tensor hidden = ops::gated(*backend_, opened, gate_);  // (rows * used, expert_columns)
  const Tensor each = down_(hidden, experts);                  // (rows * used, width)
  const int64_t rows = shares.dim(0);
  const Tensor sum = ops::matmul(*backend_, shares.reshape({rows, 1, used_}),
                                 each.reshape({rows, used_, each.dim(1)}))
                         .reshape({rows, each.dim(1)});
  return shared_ ? (*shared_)(x, sum) : sum;
}

}  // namespace mynah::llama
