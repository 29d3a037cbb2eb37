// Experts: a feed-forward block of which each token takes a few parts (Shazeer et al. 2017,
// arXiv:1701.06538).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/llama/config.h"
#include "models/llama/projections.h"
#include "nn/expert_linear.h"
#include "nn/linear.h"

namespace mynah::llama {

// The expert that every token is sent to beside others (Dai et al. 2024, arXiv:2401.06066, section
// 3.2).
class SharedExpert {
 public:
  SharedExpert() = default;

  // w holds "ffn_gate_shexp" and "ffn_up_shexp" (shared_columns, width), "ffn_down_shexp" (width,
  // shared_columns) and, where each token lets it through by a sigmoid, "ffn_gate_inp_shexp"
  // (width).
  [[nodiscard]] static Result<SharedExpert> load(const Weights& w, const Config& config);

  // x (rows, width) -> (rows, width): what it makes of x, added to what the others made.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& others) const;

 private:
  Backend* backend_ = nullptr;
  GatedParams gate_;
  Projections gate_up_;
  Linear down_;
  Tensor door_;  // (width); undefined: it is open
};

class Experts {
 public:
  Experts() = default;

  // w holds the router "ffn_gate_inp", and "ffn_gate_exps" and "ffn_up_exps" or "ffn_gate_up_exps",
  // and "ffn_down_exps", of the shapes that Config says; where there is one, the numbers
  // "ffn_down_exps.scale" (experts) that their results are multiplied with, "exp_probs_b.bias"
  // (experts), which is added to scores where experts are chosen and nowhere else (Wang et al.
  // 2024, arXiv:2408.15664), and the tensors of a SharedExpert.
  [[nodiscard]] static Result<Experts> load(const Weights& w, const Config& config);

  // x (rows, width), `asked` (rows, width) what the router sees of it -> (rows, width): the sum of
  // what the experts of each row's highest scores make of it, each times its share, and of what the
  // shared one makes of it.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& asked) const;

 private:
  struct Routes {
    Tensor experts;  // (rows, used) i32
    Tensor shares;   // (rows, used)
  };

  [[nodiscard]] Routes routes(const Tensor& asked) const;
  // Of the likeliest experts by logits (rows, experts), without a choice's bias.
  [[nodiscard]] Routes by_softmax(const Tensor& logits) const;
  // Chosen by other numbers than they are weighed by.
  [[nodiscard]] Routes by_scores(const Tensor& logits) const;
  // `values` (rows, any): so many of the highest of each row, as logarithms of their softmax.
  [[nodiscard]] ops::SampledTokens highest(const Tensor& values, int64_t count) const;
  // `values` (rows, experts), out of reach but for those of each row's best groups (DeepSeek-AI
  // 2024, arXiv:2412.19437, section 2.1.2: by the sum of a group's two highest).
  [[nodiscard]] Tensor of_best_groups(const Tensor& values) const;

  Backend* backend_ = nullptr;
  int64_t used_ = 0;
  ExpertScores scores_of_ = ExpertScores::Softmax;
  bool normed_shares_ = true;
  float scale_ = 1.0F;  // of shares
  GatedParams gate_;
  Linear router_;
  std::vector<ExpertLinear> gate_up_;  // side by side; one where they are of one type
  ExpertLinear down_;
  Tensor scales_;       // (experts, 1); undefined: none
  Tensor choice_bias_;  // (experts); undefined: none
  Tensor unit_rows_;    // (experts, experts), 1 on the diagonal; where by_scores() counts
  int64_t used_groups_ = 1;
  Tensor group_rows_;  // (groups, experts), 1 at a group's own; undefined: there is one group
  std::optional<SharedExpert> shared_;
};

}  // namespace mynah::llama
