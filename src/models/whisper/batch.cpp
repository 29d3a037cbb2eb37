#include "models/whisper/batch.h"

#include <algorithm>
#include <cmath>

namespace mynah::whisper {
namespace {

int64_t longest_prompt(std::span<const GenerateRequest> requests) {
  size_t longest = 0;
  for (const GenerateRequest& request : requests) {
    longest = std::max(longest, request.prompt.size());
  }
  return static_cast<int64_t>(longest);
}

}  // namespace

void Hypothesis::add(int32_t token, float log_probability, int32_t eot) {
  sum_log_probability += log_probability;
  if (token == eot) {
    finished = true;
    return;
  }
  tokens.push_back(token);
  log_probabilities.push_back(log_probability);
}

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
      text.add(request.begun[k], request.begun_log_probabilities[k], generator_.special.eot);
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

Sampled Batch::step(std::span<const Hypothesis* const> hypotheses, int32_t top) {
  const NextTokens next = next_tokens(hypotheses);
  std::vector<int64_t> sequences;
  for (const Hypothesis* const hypothesis : hypotheses) {
    sequences_.append(hypothesis->sequence, hypothesis->tokens.back());
    sequences.push_back(hypothesis->sequence);
  }
  Sampled sampled = sequences_.step(sequences, next.params(&generator_.rules.masks(), top));
  if (generator_.after_step) {
    generator_.after_step();
  }
  return sampled;
}

NextTokens Batch::next_tokens(std::span<const Hypothesis* const> hypotheses) const {
  NextTokens next;
  for (const Hypothesis* const hypothesis : hypotheses) {
    next.add(generator_.rules.next(hypothesis->tokens), options_.sampling, hypothesis->tokens,
             random_uniform(requests_[hypothesis->request].seed, hypothesis->sample,
                            hypothesis->tokens.size()));
  }
  return next;
}

Sampled Batch::pick(const Tensor& logits, std::span<const Hypothesis* const> hypotheses,
                    int32_t top) const {
  const NextTokens next = next_tokens(hypotheses);
  return sample(generator_.backend, logits, next.params(&generator_.rules.masks(), top));
}

}  // namespace mynah::whisper
