#include "nn/decode/sampling.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace mynah {
namespace {

// What was said becomes less likely.
void add_said(std::span<const int32_t> said, const SamplingOptions& options,
              std::vector<TokenPenalty>& penalties) {
  if (options.repetition_penalty == 1.0F && options.presence_penalty == 0.0F &&
      options.frequency_penalty == 0.0F) {
    return;
  }
  std::vector<int32_t> sorted(said.begin(), said.end());
  std::ranges::sort(sorted);
  for (auto token = sorted.begin(); token != sorted.end();) {
    const auto next = std::upper_bound(token, sorted.end(), *token);
    const auto count = static_cast<float>(next - token);
    penalties.push_back({.token = *token,
                         .factor = options.repetition_penalty,
                         .offset = options.presence_penalty + options.frequency_penalty * count});
    token = next;
  }
}

// What would complete an n-gram that was said never comes.
void add_ngrams(std::span<const int32_t> said, size_t n, std::vector<TokenPenalty>& penalties) {
  if (n == 0 || said.size() < n) {
    return;
  }
  const auto recent = said.last(n - 1);
  for (size_t i = 0; i + n <= said.size(); ++i) {
    if (std::ranges::equal(said.subspan(i, n - 1), recent)) {
      penalties.push_back({.token = said[i + n - 1], .factor = TokenPenalty::kNever});
    }
  }
}

void add_biases(std::span<const TokenBias> biases, std::vector<TokenPenalty>& penalties) {
  for (const TokenBias& of_token : biases) {
    if (of_token.bias == -std::numeric_limits<float>::infinity()) {
      penalties.push_back({.token = of_token.token, .factor = TokenPenalty::kNever});
    } else {
      penalties.push_back({.token = of_token.token, .bias = of_token.bias});
    }
  }
}

// Makes one penalty of all that are said of a token, tokens in rising order. At most one of them
// has a factor and an offset, the others have a bias or are kNever.
void merge(std::vector<TokenPenalty>& penalties, size_t begin) {
  const auto first = penalties.begin() + static_cast<ptrdiff_t>(begin);
  std::ranges::stable_sort(first, penalties.end(), {}, &TokenPenalty::token);
  auto end = first;
  for (auto next = first; next != penalties.end(); ++next) {
    if (end != first && std::prev(end)->token == next->token) {
      TokenPenalty& merged = *std::prev(end);
      merged.factor *= next->factor;
      merged.offset += next->offset;
      merged.bias += next->bias;
    } else {
      *end++ = *next;
    }
  }
  penalties.erase(end, penalties.end());
}

// SplitMix64's finalizer (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
// generators"); 0 of 0.
uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

// SplitMix64 of a counter, in which a sequence has 4096 numbers; each further 4096 of its steps
// begin elsewhere.
float random_uniform(uint64_t seed, uint64_t sample, uint64_t step) {
  constexpr uint64_t kSteps = 4096;
  const uint64_t start = seed + mixed(step / kSteps);
  const uint64_t bits = mixed(start + 0x9E3779B97F4A7C15U * (1 + sample * kSteps + step % kSteps));
  return static_cast<float>(bits >> 40U) * 0x1p-24F;
}

void NextTokens::add(SampleRow allowed, const SamplingOptions& options,
                     std::span<const int32_t> said, float uniform) {
  const size_t begin = penalties.size();
  add_said(said, options, penalties);
  add_ngrams(said, static_cast<size_t>(std::max(0, options.no_repeat_ngram_size)), penalties);
  add_biases(options.logit_bias, penalties);
  merge(penalties, begin);

  allowed.penalties_begin = static_cast<int32_t>(begin);
  allowed.penalties_count = static_cast<int32_t>(penalties.size() - begin);
  allowed.temperature = options.temperature;
  allowed.uniform = uniform;
  allowed.top_k = options.top_k;
  allowed.typical_p = options.typical_p;
  allowed.top_p = options.top_p;
  allowed.min_p = options.min_p;
  rows.push_back(allowed);
}

}  // namespace mynah
