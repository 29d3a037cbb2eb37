#include "models/whisper/generate.h"

#include <algorithm>
#include <cmath>

#include "models/whisper/beam_search.h"
#include "models/whisper/sequences.h"

namespace mynah::whisper {
namespace {

Generated finish(const Hypothesis& best, float no_speech_probability) {
  return {.tokens = best.tokens,
          .log_probabilities = best.log_probabilities,
          .sum_log_probability = best.sum_log_probability,
          .no_speech_probability = no_speech_probability};
}

// Greedy at temperature 0, else `group` samples a request.
std::vector<Hypothesis> sample(const Generator& generator, Sequences& sequences, size_t requests,
                               size_t group, const std::stop_token& stop) {
  std::vector<Hypothesis> all(requests * group);
  std::vector<int32_t> prompt_rows;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = sequences.begun(i / group);
    all[i].sample = i % group;
    prompt_rows.push_back(static_cast<int32_t>(i / group));
  }
  Tensor logits = sequences.prefill();
  if (group > 1) {
    logits =
        ops::gather_rows(generator.backend, logits,
                         ops::from_host(generator.backend, std::span<const int32_t>(prompt_rows),
                                        {static_cast<int64_t>(prompt_rows.size())}));
  }
  std::vector<const Hypothesis*> running;
  std::vector<int64_t> slots;
  for (size_t i = 0; i < all.size(); ++i) {
    running.push_back(&all[i]);
    slots.push_back(static_cast<int64_t>(i));
  }
  Picked picked = sequences.pick(logits, running, 1);
  while (true) {
    size_t kept = 0;
    for (size_t i = 0; i < running.size(); ++i) {
      Hypothesis& hypothesis = all[static_cast<size_t>(slots[i])];
      hypothesis.add(picked.ids[i], picked.log_probabilities[i], generator.special.eot);
      const auto length = static_cast<int64_t>(hypothesis.tokens.size());
      if (!hypothesis.finished && length < sequences.room(hypothesis.request) &&
          !sequences.is_stopped(hypothesis.request)) {
        running[kept] = running[i];
        slots[kept++] = slots[i];
      }
    }
    running.resize(stop.stop_requested() ? 0 : kept);
    slots.resize(running.size());
    if (running.empty()) {
      return all;
    }
    picked = sequences.step(running, slots, 1);
  }
}

}  // namespace

double rank_score(const Hypothesis& hypothesis, float length_penalty) {
  const double length = std::max<double>(1.0, static_cast<double>(hypothesis.tokens.size()));
  return hypothesis.sum_log_probability / std::pow(length, length_penalty);
}

std::vector<Generated> Generator::run(std::span<const GenerateRequest> requests,
                                      const GenerateOptions& options, const CrossCache& cross,
                                      const std::stop_token& stop) const {
  std::vector<Generated> results;
  if (requests.empty()) {
    return results;
  }
  const bool beams = options.temperature == 0.0F && options.beam_size > 1;
  const int group = beams                         ? options.beam_size
                    : options.temperature == 0.0F ? 1
                                                  : std::max(1, options.best_of);
  Sequences sequences(*this, requests, options, cross, group);
  const std::vector<Hypothesis> candidates =
      beams ? beam_search(*this, sequences, requests.size(), options, stop)
            : sample(*this, sequences, requests.size(), static_cast<size_t>(group), stop);
  for (size_t request = 0; request < requests.size(); ++request) {
    const Hypothesis* best = nullptr;
    for (const Hypothesis& candidate : candidates) {
      if (candidate.request == request &&
          (best == nullptr || rank_score(candidate, options.length_penalty) >
                                  rank_score(*best, options.length_penalty))) {
        best = &candidate;
      }
    }
    results.push_back(best == nullptr ? Generated{}
                                      : finish(*best, sequences.no_speech_probability(request)));
  }
  return results;
}

}  // namespace mynah::whisper
