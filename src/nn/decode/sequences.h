// Sequences: texts that are decoded together, of which one may come or go at any step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nn/decode/kv_cache.h"
#include "tensor/step_runner.h"

namespace mynah {

// What is decoded: a model that reads tokens and says how likely each is to come next. A result
// depends on its own sequence alone.
class TokenModel {
 public:
  TokenModel() = default;
  virtual ~TokenModel() = default;
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;

  // Adds each lane's tokens, side by side in `tokens`, to its sequence of the cache; their last
  // hidden states, (tokens, width).
  [[nodiscard]] virtual Tensor forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                                       KvCache& cache) const = 0;
  // Hidden states (rows, width) -> logits (rows, vocabulary).
  [[nodiscard]] virtual Tensor logits(const Tensor& hidden) const = 0;
};

// What ops::sample() found of some rows, `top` of a row, best first.
struct Sampled {
  std::vector<int32_t> ids;
  std::vector<float> log_probabilities;
};

[[nodiscard]] Sampled sample(Backend& backend, const Tensor& logits, const SampleParams& params);

// Continuous batching (Yu et al. 2022, Orca, OSDI): a step takes whichever sequences it is given,
// each with the tokens that it waits with, those of a prompt or one.
class Sequences {
 public:
  // All but the cache must outlive it; `steps` is the model's own.
  Sequences(Backend& backend, const TokenModel& model, StepRunner& steps, KvCache cache);

  // One that begins with these tokens, at least one; the first step that it takes part in computes
  // them. `context`: Lane::context.
  [[nodiscard]] int64_t admit(std::span<const int32_t> tokens, int64_t context = 0);
  // One that begins as another, whose computed past it shares and whose waiting tokens it has.
  [[nodiscard]] int64_t fork(int64_t sequence);
  // One that begins with the first `length` computed positions of another, and waits with nothing.
  [[nodiscard]] int64_t fork(int64_t sequence, int64_t length);
  void append(int64_t sequence, int32_t token);
  // Its memory is free for others.
  void evict(int64_t sequence);

  // Computes what these wait with, each at least one token; hidden states of all of it, in their
  // order.
  Tensor run(std::span<const int64_t> sequences);

  // What a step does besides.
  struct Beside {
    std::span<const int64_t> growing = {};  // sequences whose waiting tokens are computed, too
    // Of each sequence that is asked, how many of its waiting tokens, the last, something is
    // sampled behind; empty: of each the last one.
    std::span<const int64_t> asked = {};
    // Sees the logits (params' rows, vocabulary) before what follows is sampled; null: nobody does.
    std::function<void(const Tensor& logits)> on_logits = nullptr;
  };

  // Computes what these wait with and samples what may follow each, by the rows of `params` in
  // their order.
  Sampled step(std::span<const int64_t> sequences, const SampleParams& params,
               const Beside& beside);

  Sampled step(std::span<const int64_t> sequences, const SampleParams& params) {
    return step(sequences, params, {});
  }

  [[nodiscard]] const KvCache& cache() const { return cache_; }

 private:
  struct Waits {
    std::vector<int32_t> tokens;
    int64_t context = 0;
  };

  // The tokens of a pass, and whose they are.
  struct Pass {
    std::vector<int32_t> tokens;
    std::vector<Lane> lanes;
  };

  // Of `growing` first.
  Pass begin(std::span<const int64_t> growing, std::span<const int64_t> sequences);
  [[nodiscard]] static std::vector<int32_t> asked_rows(std::span<const Lane> lanes,
                                                       const Beside& beside);
  Waits& waits(int64_t sequence);

  Backend& backend_;
  const TokenModel& model_;
  StepRunner& steps_;
  KvCache cache_;
  std::vector<Waits> waits_;  // by the sequence's number
};

}  // namespace mynah
