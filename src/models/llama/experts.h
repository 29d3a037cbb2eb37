// Experts: a feed-forward block of which each token takes a few parts (Shazeer et al. 2017,
// arXiv:1701.06538).
#pragma once

#include <cstdint>
#include <vector>

#include "models/llama/config.h"
#include "nn/expert_linear.h"
#include "nn/linear.h"

namespace mynah::llama {

class Experts {
 public:
  Experts() = default;

  // w holds the router "ffn_gate_inp", and "ffn_gate_exps" and "ffn_up_exps" or "ffn_gate_up_exps",
  // and "ffn_down_exps", of the shapes that Config says; where there is one, the numbers
  // "ffn_down_exps.scale" (experts) that their results are multiplied with.
  [[nodiscard]] static Result<Experts> load(const Weights& w, const Config& config);

  // x (rows, width), `asked` (rows, width) what the router sees of it -> (rows, width): the sum of
  // what each row's likeliest experts make of it, each times its share of their softmax.
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& asked) const;

 private:
  struct Routes {
    Tensor experts;  // (rows, used) i32
    Tensor shares;   // (rows, used)
  };

  [[nodiscard]] Routes routes(const Tensor& asked) const;

  Backend* backend_ = nullptr;
  int64_t used_ = 0;
  GatedParams gate_;
  Linear router_;
  std::vector<ExpertLinear> gate_up_;  // side by side; one where they are of one type
  ExpertLinear down_;
  Tensor scales_;  // (experts, 1); undefined: none
};

}  // namespace mynah::llama
