#include "models/whisper/generate.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "models/whisper/batch.h"
#include "models/whisper/beam_search.h"

namespace mynah::whisper {
namespace {

Generated finish(const Hypothesis& best, float no_speech_probability) {
  return {.tokens = best.tokens,
          .log_probabilities = best.log_probabilities,
          .sum_log_probability = best.sum_log_probability,
          .no_speech_probability = no_speech_probability};
}

// Greedy at temperature 0, else `group` samples a request.
std::vector<Hypothesis> take_samples(const Generator& generator, Batch& batch, size_t group,
                                     const std::stop_token& stop) {
  Tensor logits;
  const std::vector<Hypothesis> texts = batch.begin(logits);
  std::vector<Hypothesis> all;
  std::vector<int32_t> prompt_rows;
  for (const Hypothesis& text : texts) {
    for (size_t i = 0; i < group; ++i) {
      all.push_back(i == 0 ? text : batch.fork(text));
      all.back().sample = i;
      prompt_rows.push_back(static_cast<int32_t>(text.request));
    }
  }
  if (group > 1) {
    logits =
        ops::gather_rows(generator.backend, logits,
                         ops::from_host(generator.backend, std::span<const int32_t>(prompt_rows),
                                        {std::ssize(prompt_rows)}));
  }
  std::vector<const Hypothesis*> running;
  std::ranges::transform(all, std::back_inserter(running), [](const Hypothesis& h) { return &h; });
  Sampled picked = batch.pick(logits, running, 1);
  while (true) {
    size_t kept = 0;
    for (size_t i = 0; i < running.size(); ++i) {
      Hypothesis& hypothesis = all[static_cast<size_t>(running[i] - all.data())];
      batch.grow(hypothesis, picked.ids[i], picked.log_probabilities[i]);
      if (!hypothesis.finished && std::ssize(hypothesis.tokens) < batch.room(hypothesis.request) &&
          !batch.is_stopped(hypothesis.request)) {
        running[kept++] = running[i];
      } else {
        batch.let_go(hypothesis);
      }
    }
    running.resize(stop.stop_requested() ? 0 : kept);
    if (running.empty()) {
      return all;
    }
    picked = batch.step(running, 1);
  }
}

}  // namespace

double rank_score(const Hypothesis& hypothesis, float length_penalty) {
  const double length = std::max<double>(1.0, static_cast<double>(hypothesis.tokens.size()));
  return (hypothesis.score() - hypothesis.word.held) / std::pow(length, length_penalty);
}

std::vector<Generated> Generator::run(std::span<const GenerateRequest> requests,
                                      const GenerateOptions& options, const CrossCache& cross,
                                      const std::stop_token& stop) const {
  std::vector<Generated> results;
  if (requests.empty()) {
    return results;
  }
  const bool likeliest = options.sampling.temperature == 0.0F;
  const bool words = std::ranges::any_of(
      requests, [](const GenerateRequest& request) { return request.words != nullptr; });
  const bool beams = likeliest && (options.beam_size > 1 || words);
  const int group = beams && words ? std::max(1, options.beam_size) + kBegunBeams
                    : beams        ? options.beam_size
                    : likeliest    ? 1
                                   : std::max(1, options.best_of);
  Batch batch(*this, requests, options, cross, group);
  const std::vector<Hypothesis> candidates =
      beams ? beam_search(batch, options, stop)
            : take_samples(*this, batch, static_cast<size_t>(group), stop);
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
                                      : finish(*best, batch.no_speech_probability(request)));
  }
  return results;
}

}  // namespace mynah::whisper
