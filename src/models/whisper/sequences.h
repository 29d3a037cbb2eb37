// Sequences: the running state of a batch that is being decoded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/whisper/generate.h"

namespace mynah::whisper {

// One candidate text of a request.
struct Hypothesis {
  size_t request = 0;
  uint64_t sample = 0;  // which of the request's, for its random numbers
  std::vector<int32_t> tokens;
  std::vector<float> log_probabilities;
  double sum_log_probability = 0;
  bool finished = false;  // its <|endoftext|> came; it is not among the tokens

  void add(int32_t token, float log_probability, int32_t eot);
};

// What Backend::sample found for some hypotheses, `top` a hypothesis, best first.
struct Picked {
  std::vector<int32_t> ids;
  std::vector<float> log_probabilities;
};

// What may come next, a rule a hypothesis.
struct NextTokens {
  std::vector<SampleRow> rules;
  std::vector<TokenPenalty> penalties;
};

// Slots [request * group, (request + 1) * group) of the cache belong to a request.
class Sequences {
 public:
  Sequences(const Generator& generator, std::span<const GenerateRequest> requests,
            const GenerateOptions& options, const CrossCache& cross, int64_t group);

  // A request's text before anything was picked.
  [[nodiscard]] Hypothesis begun(size_t request) const;

  // Runs all prompts, and what the texts begin with. Returns the logits after them, (requests,
  // n_vocab).
  Tensor prefill();
  // The tokens that may come next, by the rules and the options' penalties. logits has a row a
  // hypothesis.
  [[nodiscard]] Picked pick(const Tensor& logits, std::span<const Hypothesis* const> hypotheses,
                            int32_t top) const;
  // Runs one token, the last, of each hypothesis in its slot, and picks the tokens that may come
  // next.
  Picked step(std::span<const Hypothesis* const> hypotheses, std::span<const int64_t> slots,
              int32_t top);

  // Slot i of every request takes what its slot sources[i] held.
  void rearrange(std::span<const int64_t> sources) { cache_.rearrange(sources); }

  // Whether nobody wants a request any more.
  [[nodiscard]] bool is_stopped(size_t request) const {
    return requests_[request].stop.stop_requested();
  }

  [[nodiscard]] float no_speech_probability(size_t request) const { return no_speech_[request]; }

  // Tokens a request may still get: the options' limit, or the room that its prompt leaves.
  [[nodiscard]] int64_t room(size_t request) const;

 private:
  // -> logits (hypotheses, n_vocab).
  Tensor forward(std::span<const Hypothesis* const> hypotheses, std::span<const int64_t> slots);
  [[nodiscard]] NextTokens next_tokens(std::span<const Hypothesis* const> hypotheses) const;

  const Generator& generator_;
  std::span<const GenerateRequest> requests_;
  const GenerateOptions& options_;
  const CrossCache& cross_;
  int64_t group_;
  KvCache cache_;
  std::vector<float> no_speech_;
};

}  // namespace mynah::whisper
