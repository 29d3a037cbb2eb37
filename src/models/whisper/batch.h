// Batch: the requests that are decoded together, and the candidates for their texts.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/whisper/generate.h"
#include "nn/decode/sequences.h"

namespace mynah::whisper {

// One candidate text of a request.
struct Hypothesis {
  size_t request = 0;
  int64_t sequence = 0;  // that has it in the cache, but for its last token
  uint64_t sample = 0;   // which of the request's, for its random numbers
  std::vector<int32_t> tokens;
  std::vector<float> log_probabilities;
  double sum_log_probability = 0;
  ContextGraph::State word{};  // of GenerateRequest::words
  double bonus = 0;            // that its words earned
  bool finished = false;       // its <|endoftext|> came; it is not among the tokens

  // What it is compared by with others of its length.
  [[nodiscard]] double score() const { return sum_log_probability + bonus; }
};

class Batch {
 public:
  // Up to `group` hypotheses of each request.
  Batch(const Generator& generator, std::span<const GenerateRequest> requests,
        const GenerateOptions& options, const CrossCache& cross, int64_t group);

  // Runs all prompts, and what the texts begin with: a hypothesis a request. `logits`: after them,
  // (requests, n_vocab).
  std::vector<Hypothesis> begin(Tensor& logits);
  // Another that begins as this one.
  [[nodiscard]] Hypothesis fork(const Hypothesis& hypothesis);
  // Hypotheses `after` have grown from some that had the sequences `before`, and name them: each is
  // given one of its own, and what nobody went on with is let go.
  void renew(std::span<const int64_t> before, std::span<Hypothesis> after);

  void let_go(const Hypothesis& hypothesis) { sequences_.evict(hypothesis.sequence); }

  // Its next token, with the log probability that the model gives it.
  void grow(Hypothesis& hypothesis, int32_t token, float log_probability) const;
  // score() of a hypothesis that grew so.
  [[nodiscard]] double score_with(const Hypothesis& hypothesis, int32_t token,
                                  float log_probability) const;

  // The tokens that may come next, by the rules and the options' penalties, with the model's own
  // log probabilities; those that go on within a word of the request's come before others as if
  // they had their bonus. logits has a row a hypothesis.
  [[nodiscard]] Sampled pick(const Tensor& logits, std::span<const Hypothesis* const> hypotheses,
                             int32_t top) const;
  // Runs one token, the last, of each hypothesis, and picks the tokens that may come next.
  Sampled step(std::span<const Hypothesis* const> hypotheses, int32_t top);

  // Whether nobody wants a request any more.
  [[nodiscard]] bool is_stopped(size_t request) const {
    return requests_[request].stop.stop_requested();
  }

  // Those of its request; null: none. What is drawn by chance is in doubt already, and names would
  // win among the samples.
  [[nodiscard]] const ContextGraph* words_of(const Hypothesis& hypothesis) const;

  [[nodiscard]] bool has_words(size_t request) const { return requests_[request].words != nullptr; }

  [[nodiscard]] float no_speech_probability(size_t request) const { return no_speech_[request]; }

  // Tokens a request may still get: the options' limit, or the room that its prompt leaves.
  [[nodiscard]] int64_t room(size_t request) const;

 private:
  // The decoder over this batch's audio.
  class AudioText final : public TokenModel {
   public:
    AudioText(const Decoder& decoder, const CrossCache& cross) : decoder_(decoder), cross_(cross) {}

    [[nodiscard]] Tensor forward(std::span<const int32_t> tokens, std::span<const Lane> lanes,
                                 KvCache& cache) const override {
      return decoder_.forward(tokens, lanes, cache, cross_);
    }

    [[nodiscard]] Tensor logits(const Tensor& hidden) const override {
      return decoder_.logits(hidden);
    }

   private:
    const Decoder& decoder_;
    const CrossCache& cross_;
  };

  // How the next tokens are sampled: rows by rule, and the biases that words gave some of them.
  struct Step {
    NextTokens next;
    std::vector<std::pair<size_t, std::vector<TokenBias>>> biased;

    // Leaves the model's own log probabilities.
    void take_off_biases(Sampled& sampled, int32_t top) const;
  };

  [[nodiscard]] Step plan(std::span<const Hypothesis* const> hypotheses) const;

  const Generator& generator_;
  std::span<const GenerateRequest> requests_;
  const GenerateOptions& options_;
  AudioText model_;
  Sequences sequences_;
  std::vector<float> no_speech_;
};

}  // namespace mynah::whisper
