// Beam search over a batch of requests.
#pragma once

#include <stop_token>
#include <vector>

#include "models/whisper/batch.h"

namespace mynah::whisper {

// Beams besides those that the options have, of a request that has words: those that have begun one
// and would be given up before it shows that it is one.
inline constexpr int kBegunBeams = 8;

// What candidates are compared by: log-probability over length to the power of the penalty.
[[nodiscard]] double rank_score(const Hypothesis& hypothesis, float length_penalty);

// All finished candidates of every request, and unfinished ones where too few finished
// (openai/whisper decoding.py class BeamSearchDecoder; patience: arXiv 2204.05424).
[[nodiscard]] std::vector<Hypothesis> beam_search(Batch& batch, const GenerateOptions& options,
                                                  const std::stop_token& stop);

}  // namespace mynah::whisper
