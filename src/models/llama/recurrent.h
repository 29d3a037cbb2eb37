// Layers that keep a state of what came before instead of its keys and values.
#pragma once

#include <cstdint>
#include <optional>

#include "models/llama/config.h"
#include "models/llama/projections.h"
#include "nn/decode/kv_cache.h"
#include "nn/linear.h"
#include "nn/rms_norm.h"
#include "nn/weights.h"

namespace mynah::llama {

// Tokens of a step, and where each lane's states are.
struct RecurrentStep {
  const KvCache* cache = nullptr;
  const Lengths* tokens = nullptr;  // of each lane
  const Tensor* slots = nullptr;    // KvStep::slots
};

// LFM2's gated short convolution (Liquid AI 2025, arXiv:2511.23404): of three projections b, c and
// x, what is added is a fourth one of c times the convolution of b times x.
class ShortConv {
 public:
  ShortConv() = default;

  // w is a block's; its state has this number in Config::states().
  [[nodiscard]] static Result<ShortConv> load(const Weights& w, const Config& config,
                                              int64_t state);

  // x (tokens, width), normed, and what it is added to -> (tokens, width).
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& residual,
                                  const RecurrentStep& step) const;

 private:
  Backend* backend_ = nullptr;
  int64_t width_ = 0;
  int64_t state_ = 0;
  Linear in_;    // to b, c and x
  Tensor taps_;  // (taps, width)
  Linear out_;
};

// Qwen3-Next's and 3.5's gated delta net (Yang, Kautz and Hatamizadeh 2024, arXiv:2412.06464,
// section 3.4).
class DeltaNet {
 public:
  DeltaNet() = default;

  // w is a block's; its states have this number in Config::states() and the next one.
  [[nodiscard]] static Result<DeltaNet> load(const Weights& w, const Config& config, int64_t state);

  // x (tokens, width), normed, and what it is added to -> (tokens, width).
  [[nodiscard]] Tensor operator()(const Tensor& x, const Tensor& residual,
                                  const RecurrentStep& step) const;

 private:
  // Of rows: what the convolution sees, and what of each head's numbers comes before its function.
  struct Inputs {
    Tensor qkv;    // (tokens, queries, keys and values)
    Tensor gate;   // (tokens, values)
    Tensor beta;   // (tokens, heads)
    Tensor alpha;  // (tokens, heads)
  };

  [[nodiscard]] Inputs inputs(const Tensor& x) const;

  Backend* backend_ = nullptr;
  int64_t heads_ = 0;
  int64_t key_heads_ = 0;
  bool grouped_ = false;  // Config::grouped_deltas
  int64_t columns_ = 0;   // of a head
  int64_t state_ = 0;
  // Qwen3-Next's files have betas and alphas in one matrix, head of keys by head of keys, the first
  // of them also queries, keys, values and gates; else each has its own.
  std::optional<Linear> all_by_head_;
  std::optional<Linear> beta_alpha_by_head_;
  Linear qkv_;
  Linear gate_;             // of what the rule gives
  Projections beta_alpha_;  // before their functions
  Tensor taps_;             // (taps, queries, keys and values)
  RmsNorm unit_;            // of a head of queries or keys: to length 1
  Tensor alpha_bias_;       // (heads)
  Tensor decays_;           // (heads), below 0
  RmsNorm norm_;            // of a head
  Linear out_;
};

}  // namespace mynah::llama
