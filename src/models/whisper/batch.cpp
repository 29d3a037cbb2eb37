#include "models/whisper/batch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mynah::whisper {
namespace {

int64_t longest_prompt(std::span<const GenerateRequest> requests) {
  size_t longest = 0;
  for (const GenerateRequest& request : requests) {
    longest = std::max(longest, request.prompt.size());
  }
  return static_cast<int64_t>(longest);
}

// What the model itself says of tokens whose logits had biases: log p = log p' - bias + log(Z' / Z)
// with Z / Z' = 1 - sum of p' (1 - e^-bias) over the biased. Those that are not among the best have
// next to no part in the sum.
void without_biases(std::span<const int32_t> ids, std::span<float> log_probabilities,
                    std::span<const TokenBias> biases) {
  double gained = 0;
  for (size_t k = 0; k < ids.size(); ++k) {
    const auto bias = std::ranges::lower_bound(biases, ids[k], {}, &TokenBias::token);
    if (bias != biases.end() && bias->token == ids[k] && std::isfinite(log_probabilities[k])) {
      gained += std::exp(log_probabilities[k]) * -std::expm1(-bias->bias);
      log_probabilities[k] -= bias->bias;
    }
  }
  // A sum of rounded numbers.
  constexpr double kMost = 1 - 1e-6;
  const auto all = static_cast<float>(std::log1p(-std::min(gained, kMost)));
  for (float& value : log_probabilities) {
    value -= all;
  }
}

}  // namespace

Batch::Batch(const Generator& generator, std::span<const GenerateRequest> requests,
             const GenerateOptions& options, const CrossCache& cross, int64_t group)
    : generator_(generator),
      requests_(requests),
      options_(options),
      model_(generator.decoder, cross),
      sequences_(generator.backend, model_, generator.steps,
                 generator.decoder.new_cache(std::ssize(requests) * group,
                                             longest_prompt(requests) + options.max_new_tokens)) {}

int64_t Batch::room(size_t request) const {
  const auto prompt = std::ssize(requests_[request].prompt);
  return std::min<int64_t>(options_.max_new_tokens, sequences_.cache().sizes().capacity - prompt);
}

std::vector<Hypothesis> Batch::begin(Tensor& logits) {
  std::vector<Hypothesis> texts;
  std::vector<int64_t> all;
  std::vector<int32_t> rows;  // the last of every prompt, then every start of transcript
  std::vector<int32_t> starts;
  int32_t row = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const GenerateRequest& request = requests_[i];
    Hypothesis& text = texts.emplace_back();
    text.request = i;
    text.sequence = sequences_.admit(request.prompt, request.utterance);
    for (size_t k = 0; k < request.begun.size(); ++k) {
      grow(text, request.begun[k], request.begun_log_probabilities[k]);
      sequences_.append(text.sequence, request.begun[k]);
    }
    all.push_back(text.sequence);
    starts.push_back(row + static_cast<int32_t>(request.sot_index));
    row += static_cast<int32_t>(request.prompt.size() + request.begun.size());
    rows.push_back(row - 1);
  }
  rows.insert(rows.end(), starts.begin(), starts.end());
  Backend& backend = generator_.backend;
  const Tensor hidden = sequences_.run(all);
  const auto n = std::ssize(requests_);
  const Tensor picked = ops::gather_rows(
      backend, hidden, ops::from_host(backend, std::span<const int32_t>(rows), {2 * n}));
  const Tensor both = generator_.decoder.logits(picked);  // (2 requests, n_vocab)

  const Tensor start = ops::log_softmax(backend, both.narrow(0, n, n));
  no_speech_ = ops::to_host(
      backend, ops::contiguous(backend, start.narrow(1, generator_.special.no_speech, 1)));
  for (float& value : no_speech_) {
    value = std::exp(value);
  }
  logits = both.narrow(0, 0, n);
  return texts;
}

Hypothesis Batch::fork(const Hypothesis& hypothesis) {
  Hypothesis forked = hypothesis;
  forked.sequence = sequences_.fork(hypothesis.sequence);
  return forked;
}

void Batch::renew(std::span<const int64_t> before, std::span<Hypothesis> after) {
  std::vector<int64_t> taken;
  const auto is_taken = [&](int64_t sequence) {
    return std::ranges::find(taken, sequence) != taken.end();
  };
  for (Hypothesis& hypothesis : after) {
    if (is_taken(hypothesis.sequence)) {
      hypothesis.sequence = sequences_.fork(hypothesis.sequence);
    } else {
      taken.push_back(hypothesis.sequence);
    }
  }
  for (const int64_t sequence : before) {
    if (!is_taken(sequence)) {
      sequences_.evict(sequence);
    }
  }
}

void Batch::grow(Hypothesis& hypothesis, int32_t token, float log_probability) const {
  if (const ContextGraph* const words = words_of(hypothesis); words != nullptr) {
    hypothesis.bonus += words->step(hypothesis.word, token);
  }
  hypothesis.sum_log_probability += log_probability;
  if (token == generator_.special.eot) {
    hypothesis.finished = true;
    return;
  }
  hypothesis.tokens.push_back(token);
  hypothesis.log_probabilities.push_back(log_probability);
}

const ContextGraph* Batch::words_of(const Hypothesis& hypothesis) const {
  return options_.sampling.temperature == 0.0F ? requests_[hypothesis.request].words : nullptr;
}

double Batch::score_with(const Hypothesis& hypothesis, int32_t token, float log_probability) const {
  const double score = hypothesis.score() + log_probability;
  const ContextGraph* const words = words_of(hypothesis);
  if (words == nullptr) {
    return score;
  }
  ContextGraph::State word = hypothesis.word;
  return score + words->step(word, token);
}

Sampled Batch::step(std::span<const Hypothesis* const> hypotheses, int32_t top) {
  const Step step = plan(hypotheses);
  std::vector<int64_t> sequences;
  for (const Hypothesis* const hypothesis : hypotheses) {
    sequences_.append(hypothesis->sequence, hypothesis->tokens.back());
    sequences.push_back(hypothesis->sequence);
  }
  Sampled sampled = sequences_.step(sequences, step.next.params(&generator_.rules.masks(), top));
  if (generator_.after_step) {
    generator_.after_step();
  }
  step.take_off_biases(sampled, top);
  return sampled;
}

Batch::Step Batch::plan(std::span<const Hypothesis* const> hypotheses) const {
  Step step;
  SamplingOptions sampling = options_.sampling;
  std::vector<TokenBias> biases;
  for (size_t row = 0; row < hypotheses.size(); ++row) {
    const Hypothesis& hypothesis = *hypotheses[row];
    const GenerateRequest& request = requests_[hypothesis.request];
    biases.clear();
    if (const ContextGraph* const words = words_of(hypothesis); words != nullptr) {
      words->add_biases(hypothesis.word, biases);
    }
    sampling.logit_bias = biases;
    step.next.add(generator_.rules.next(hypothesis.tokens), sampling, hypothesis.tokens,
                  random_uniform(request.seed, hypothesis.sample, hypothesis.tokens.size()));
    if (!biases.empty()) {
      step.biased.emplace_back(row, biases);
    }
  }
  return step;
}

void Batch::Step::take_off_biases(Sampled& sampled, int32_t top) const {
  const auto width = static_cast<size_t>(top);
  for (const auto& [row, biases] : biased) {
    without_biases(std::span(sampled.ids).subspan(row * width, width),
                   std::span(sampled.log_probabilities).subspan(row * width, width), biases);
  }
}

Sampled Batch::pick(const Tensor& logits, std::span<const Hypothesis* const> hypotheses,
                    int32_t top) const {
  const Step step = plan(hypotheses);
  Sampled sampled =
      sample(generator_.backend, logits, step.next.params(&generator_.rules.masks(), top));
  step.take_off_biases(sampled, top);
  return sampled;
}

}  // namespace mynah::whisper
