// How a sequence's next token is chosen: its options and what it has said so far, as a row of
// ops::sample().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/op_params.h"

namespace mynah {

struct TokenBias {
  int32_t token = 0;  // of the vocabulary
  float bias = 0.0F;  // added to its logit; finite, or -infinity: the token never comes
};

// As SampleRow and TokenPenalty have them.
struct SamplingOptions {
  float temperature = 0.0F;  // 0: the likeliest
  int top_k = 0;             // 0: off
  float typical_p = 1.0F;
  float top_p = 1.0F;
  float min_p = 0.0F;
  // Of every token that was said; above 0.
  float repetition_penalty = 1.0F;
  float presence_penalty = 0.0F;
  float frequency_penalty = 0.0F;  // as often as it was said
  int no_repeat_ngram_size = 0;    // no run of as many tokens comes twice; 0: off
  // In any order; those of one token add up.
  std::vector<TokenBias> logit_bias = {};
};

// A number in [0, 1) for the `step`-th token of the `sample`-th sequence of a seed, in whatever
// order they are asked for.
[[nodiscard]] float random_uniform(uint64_t seed, uint64_t sample, uint64_t step);

// What may come next, a row a sequence.
struct NextTokens {
  std::vector<SampleRow> rows;
  std::vector<TokenPenalty> penalties;

  // A sequence that has said `said`: penalties are of all of it, so a caller who wants them of the
  // last few tokens gives those. `allowed` has the ranges and the mask of its rules.
  void add(SampleRow allowed, const SamplingOptions& options, std::span<const int32_t> said,
           float uniform);

  // masks as SampleParams has them; `top` tokens of each row.
  [[nodiscard]] SampleParams params(const Tensor* masks, int32_t top) const {
    return {.masks = masks, .rows = rows, .penalties = penalties, .top = top};
  }
};

}  // namespace mynah
