// Tokens from audio: greedy, sampled and beam search over a batch of windows. Follows
// openai/whisper decoding.py classes GreedyDecoder, BeamSearchDecoder and MaximumLikelihoodRanker.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "models/whisper/context_graph.h"
#include "models/whisper/decoder.h"
#include "models/whisper/rules.h"
#include "nn/decode/sampling.h"

namespace mynah::whisper {

// One window to be written down.
struct GenerateRequest {
  int64_t utterance = 0;        // of the CrossCache
  std::vector<int32_t> prompt;  // previous text and start sequence: never empty
  int64_t sot_index = 0;        // where in it <|startoftranscript|> stands
  // Tokens that its text begins with, as if they had been picked, fewer than
  // GenerateOptions::max_new_tokens; and how likely each of them was.
  std::vector<int32_t> begun{};
  std::vector<float> begun_log_probabilities{};
  // Words that are likelier than the model says, where tokens are not drawn; null: none.
  const ContextGraph* words = nullptr;
  uint64_t seed = 0;       // of its samples, whatever its neighbours
  std::stop_token stop{};  // its own: it ends between two tokens
};

struct GenerateOptions {
  SamplingOptions sampling = {};
  int beam_size = 1;  // hypotheses at temperature 0; 1: greedy
  int best_of = 1;    // samples at temperature > 0
  float patience = 1.0F;
  float length_penalty = 1.0F;  // scores are divided by length to this power
  int max_new_tokens = 224;
};

struct Generated {
  std::vector<int32_t> tokens;  // after the prompt, without <|endoftext|>; GenerateRequest::begun
                                // are the first
  std::vector<float> log_probabilities;
  double sum_log_probability = 0;  // <|endoftext|> included where it came
  float no_speech_probability = 0;

  // As openai/whisper counts it: the end counts as a token.
  [[nodiscard]] float mean_log_probability() const {
    return static_cast<float>(sum_log_probability / static_cast<double>(tokens.size() + 1));
  }
};

// What decoding needs of a model.
struct Generator {
  const Decoder& decoder;
  const TokenRules& rules;
  const WhisperSpecialTokens& special;
  Backend& backend;
  StepRunner& steps;
  std::function<void()> after_step;  // to give memory back; empty where time counts more

  // One result a request, in their order; a result depends on no other request. Stops early, with
  // what there is, once stop is requested.
  [[nodiscard]] std::vector<Generated> run(std::span<const GenerateRequest> requests,
                                           const GenerateOptions& options, const CrossCache& cross,
                                           const std::stop_token& stop) const;
};

}  // namespace mynah::whisper
