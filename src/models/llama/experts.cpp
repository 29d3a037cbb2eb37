#include "models/llama/experts.h"

#include <array>

#include "nn/beside.h"

namespace mynah::llama {

Result<Experts> Experts::load(const Weights& w, const Config& c) {
  using Names = std::span<const std::string_view>;
  static constexpr std::array<std::string_view, 2> kGateUp = {"ffn_gate_exps", "ffn_up_exps"};
  static constexpr std::array<std::string_view, 1> kBoth = {"ffn_gate_up_exps"};
  static constexpr std::array<std::string_view, 1> kDown = {"ffn_down_exps"};
  Experts block;
  block.backend_ = &w.backend();
  block.used_ = c.used_experts;
  block.gate_ = c.gate;
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
  return block;
}

// The softmax of all experts, of which the likeliest are taken and their shares made to add up to
// one, is the softmax of those.
Experts::Routes Experts::routes(const Tensor& asked) const {
  const Tensor scores = router_(asked);  // (rows, experts)
  const std::vector<SampleRow> rows(static_cast<size_t>(scores.dim(0)));
  const ops::SampledTokens likeliest =
      ops::sample(*backend_, scores, {.rows = rows, .top = static_cast<int32_t>(used_)});
  Tensor shares = ops::softmax(*backend_, likeliest.log_probabilities);  // (rows, used)
  if (scales_.defined()) {
    const Tensor flat = likeliest.ids.reshape({likeliest.ids.elements()});
    shares = ops::mul(*backend_, shares,
                      ops::gather_rows(*backend_, scales_, flat).reshape(shares.shape()));
  }
  return {likeliest.ids, shares};
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
  return ops::matmul(*backend_, shares.reshape({rows, 1, used_}),
                     each.reshape({rows, used_, each.dim(1)}))
      .reshape({rows, each.dim(1)});
}

}  // namespace mynah::llama
