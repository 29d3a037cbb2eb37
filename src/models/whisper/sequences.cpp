#include "models/whisper/sequences.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mynah::whisper {
namespace {

int64_t longest_prompt(std::span<const GenerateRequest> requests) {
  size_t longest = 0;
  for (const GenerateRequest& request : requests) {
    longest = std::max(longest, request.prompt.size());
  }
  return static_cast<int64_t>(longest);
}

// A random number in [0, 1) for the `step`-th token of the `sample`-th hypothesis: SplitMix64
// (Steele, Lea, Flood 2014) of a counter, so that no order of calls matters.
float uniform(uint64_t seed, uint64_t sample, uint64_t step) {
  uint64_t z = seed + 0x9E3779B97F4A7C15U * (1 + sample * 4096 + step);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  z ^= z >> 31U;
  return static_cast<float>(z >> 40U) * 0x1p-24F;
}

// Adds the penalties of a text that is `tokens` so far: what was said becomes less likely, and what
// would complete an n-gram that was said never comes.
void add_penalties(std::span<const int32_t> tokens, const GenerateOptions& options,
                   std::vector<TokenPenalty>& penalties) {
  const auto begin = static_cast<ptrdiff_t>(penalties.size());
  if (options.repetition_penalty != 1.0F) {
    for (const int32_t token : tokens) {
      penalties.push_back({.token = token, .factor = options.repetition_penalty});
    }
  }
  const auto n = static_cast<size_t>(std::max(0, options.no_repeat_ngram_size));
  if (n > 0 && tokens.size() >= n) {
    const auto recent = tokens.last(n - 1);
    for (size_t i = 0; i + n <= tokens.size(); ++i) {
      if (std::ranges::equal(tokens.subspan(i, n - 1), recent)) {
        penalties.push_back({.token = tokens[i + n - 1], .factor = TokenPenalty::kNever});
      }
    }
  }
  // In rising order, each once: the largest penalty, as kNever is.
  const auto own = std::ranges::subrange(penalties.begin() + begin, penalties.end());
  std::ranges::sort(own, [](const TokenPenalty& a, const TokenPenalty& b) {
    return a.token != b.token ? a.token < b.token : a.factor > b.factor;
  });
  const auto repeats = std::ranges::unique(own, {}, &TokenPenalty::token);
  penalties.erase(repeats.begin(), repeats.end());
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

Sequences::Sequences(const Generator& generator, std::span<const GenerateRequest> requests,
                     const GenerateOptions& options, const CrossCache& cross, int64_t group)
    : generator_(generator),
      requests_(requests),
      options_(options),
      cross_(cross),
      group_(group),
      cache_(generator.decoder.new_cache(static_cast<int64_t>(requests.size()) * group,
                                         longest_prompt(requests) + options.max_new_tokens)) {}

int64_t Sequences::room(size_t request) const {
  const auto prompt = static_cast<int64_t>(requests_[request].prompt.size());
  return std::min<int64_t>(options_.max_new_tokens, cache_.sizes().capacity - prompt);
}

Hypothesis Sequences::begun(size_t request) const {
  const GenerateRequest& asked = requests_[request];
  Hypothesis hypothesis;
  hypothesis.request = request;
  for (size_t i = 0; i < asked.begun.size(); ++i) {
    hypothesis.add(asked.begun[i], asked.begun_log_probabilities[i], generator_.special.eot);
  }
  return hypothesis;
}

Tensor Sequences::prefill() {
  std::vector<int32_t> tokens;
  std::vector<Lane> lanes;
  std::vector<int32_t> rows;  // the last of every prompt, then every start of transcript
  std::vector<int32_t> starts;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const GenerateRequest& request = requests_[i];
    starts.push_back(static_cast<int32_t>(static_cast<int64_t>(tokens.size()) + request.sot_index));
    tokens.insert(tokens.end(), request.prompt.begin(), request.prompt.end());
    tokens.insert(tokens.end(), request.begun.begin(), request.begun.end());
    rows.push_back(static_cast<int32_t>(tokens.size()) - 1);
    lanes.push_back({.slot = static_cast<int64_t>(i) * group_,
                     .count = static_cast<int64_t>(request.prompt.size() + request.begun.size()),
                     .utterance = request.utterance});
  }
  rows.insert(rows.end(), starts.begin(), starts.end());
  Backend& backend = generator_.backend;
  const Tensor hidden = generator_.decoder.forward(tokens, lanes, cache_, cross_);
  const auto n = static_cast<int64_t>(requests_.size());
  const Tensor picked = ops::gather_rows(
      backend, hidden, ops::from_host(backend, std::span<const int32_t>(rows), {2 * n}));
  const Tensor logits = generator_.decoder.logits(picked);  // (2 requests, n_vocab)

  const Tensor start = ops::log_softmax(backend, logits.narrow(0, n, n));
  no_speech_ = ops::to_host(
      backend, ops::contiguous(backend, start.narrow(1, generator_.special.no_speech, 1)));
  for (float& value : no_speech_) {
    value = std::exp(value);
  }
  if (group_ > 1) {
    std::vector<int64_t> sources(static_cast<size_t>(n * group_));
    for (int64_t slot = 0; slot < n * group_; ++slot) {
      sources[static_cast<size_t>(slot)] = slot / group_ * group_;
    }
    cache_.rearrange(sources);
  }
  return logits.narrow(0, 0, n);
}

Tensor Sequences::forward(std::span<const Hypothesis* const> hypotheses,
                          std::span<const int64_t> slots) {
  std::vector<int32_t> tokens;
  std::vector<Lane> lanes;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    tokens.push_back(hypotheses[i]->tokens.back());
    lanes.push_back(
        {.slot = slots[i], .count = 1, .utterance = requests_[hypotheses[i]->request].utterance});
  }
  return generator_.decoder.logits(generator_.decoder.forward(tokens, lanes, cache_, cross_));
}

Picked Sequences::step(std::span<const Hypothesis* const> hypotheses,
                       std::span<const int64_t> slots, int32_t top) {
  const NextTokens next = next_tokens(hypotheses);
  const SampleParams params{.masks = &generator_.rules.masks(),
                            .rows = next.rules,
                            .penalties = next.penalties,
                            .top = top};
  const Shape shape{static_cast<int64_t>(hypotheses.size()), top};
  const auto count = static_cast<size_t>(shape.elements());
  // The ids, then the log probabilities.
  std::vector<std::byte> result(count * (sizeof(int32_t) + sizeof(float)));
  // What the cache needs is the cache's, not the step's.
  for (const int64_t slot : slots) {
    cache_.make_room(cache_.length(slot) + 1);
  }
  Backend& backend = generator_.backend;
  generator_.steps.run(
      [&](const BufferRef& memory) {
        ops::sample_into(backend, forward(hypotheses, slots), params,
                         {.ids = {memory, 0, shape, DType::I32, backend.device()},
                          .log_probabilities = {memory, count * sizeof(int32_t), shape, DType::F32,
                                                backend.device()}});
      },
      result);
  Picked picked{std::vector<int32_t>(count), std::vector<float>(count)};
  std::memcpy(picked.ids.data(), result.data(), count * sizeof(int32_t));
  std::memcpy(picked.log_probabilities.data(), result.data() + count * sizeof(int32_t),
              count * sizeof(float));
  if (generator_.after_step) {
    generator_.after_step();
  }
  return picked;
}

NextTokens Sequences::next_tokens(std::span<const Hypothesis* const> hypotheses) const {
  NextTokens next;
  for (const Hypothesis* const hypothesis : hypotheses) {
    SampleRow rule = generator_.rules.next(hypothesis->tokens);
    rule.temperature = options_.temperature;
    rule.uniform =
        uniform(requests_[hypothesis->request].seed, hypothesis->sample, hypothesis->tokens.size());
    rule.penalties_begin = static_cast<int32_t>(next.penalties.size());
    add_penalties(hypothesis->tokens, options_, next.penalties);
    rule.penalties_count = static_cast<int32_t>(next.penalties.size()) - rule.penalties_begin;
    next.rules.push_back(rule);
  }
  return next;
}

Picked Sequences::pick(const Tensor& logits, std::span<const Hypothesis* const> hypotheses,
                       int32_t top) const {
  const NextTokens next = next_tokens(hypotheses);
  const ops::SampledTokens picked = ops::sample(generator_.backend, logits,
                                                {.masks = &generator_.rules.masks(),
                                                 .rows = next.rules,
                                                 .penalties = next.penalties,
                                                 .top = top});
  return {ops::to_host_i32(generator_.backend, picked.ids),
          ops::to_host(generator_.backend, picked.log_probabilities)};
}

}  // namespace mynah::whisper
