// The next token by Whisper's rules (openai/whisper decoding.py: SuppressBlank, SuppressTokens,
// ApplyTimestampRules, GreedyDecoder).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;

namespace {

double log_sum_exp(std::span<const double> x) {
  const double highest = x.empty() ? -INFINITY : *std::ranges::max_element(x);
  if (highest == -INFINITY) {
    return highest;
  }
  double sum = 0.0;
  for (const double value : x) {
    sum += std::exp(value - highest);
  }
  return highest + std::log(sum);
}

bool allowed(const TokenRule& rule, int64_t id) {
  const bool text = rule.text_allowed && id >= rule.text_begin && id < rule.text_end;
  return text || (id >= rule.timestamp_low && id < rule.timestamp_high);
}

// The logits with the row's penalties.
std::vector<float> penalised(std::span<const float> logits,
                             std::span<const TokenPenalty> penalties) {
  std::vector<float> values(logits.begin(), logits.end());
  for (const TokenPenalty& penalty : penalties) {
    float& value = values[static_cast<size_t>(penalty.token)];
    value = penalty.of(value);
  }
  return values;
}

// The logits after all rules, -infinity where a token may not come.
std::vector<double> ruled(std::span<const float> logits, const float* mask, const TokenRule& rule) {
  std::vector<double> values(logits.size(), -INFINITY);
  for (int64_t id = 0; id < std::ssize(logits); ++id) {
    const double value =
        static_cast<double>(logits[static_cast<size_t>(id)]) + (mask != nullptr ? mask[id] : 0.0F);
    if (allowed(rule, id) && !std::isnan(value)) {
      values[static_cast<size_t>(id)] = value;
    }
  }
  const auto texts = static_cast<size_t>(rule.timestamp_begin);
  const std::span text(values.data(), texts);
  if (rule.prefer_timestamps && !text.empty() &&
      log_sum_exp(std::span(values).subspan(texts)) > *std::ranges::max_element(text)) {
    std::ranges::fill(text, -INFINITY);
  }
  return values;
}

// The token at which the cumulative of softmax(values / temperature) passes `uniform`.
int64_t sampled(std::span<const double> values, double temperature, double uniform) {
  const double highest = *std::ranges::max_element(values);
  if (highest == -INFINITY) {
    return 0;
  }
  std::vector<double> cumulative;
  double sum = 0.0;
  for (const double value : values) {
    sum += std::exp((value - highest) / temperature);
    cumulative.push_back(sum);
  }
  return std::ranges::upper_bound(cumulative, uniform * sum) - cumulative.begin();
}

// The `top` likeliest, best first; the lower index wins a tie.
std::vector<int64_t> likeliest(std::span<const double> values, int64_t top) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int64_t id) { return values[static_cast<size_t>(id)]; };
  std::partial_sort(order.begin(), order.begin() + top, order.end(), [&](int64_t a, int64_t b) {
    return value(a) != value(b) ? value(a) > value(b) : a < b;
  });
  order.resize(static_cast<size_t>(top));
  return order;
}

}  // namespace

// The log probability is that of the distribution at temperature 1, as the reference reports it.
void RefBackend::pick_token(const Tensor& logits, const PickTokenParams& params, const Tensor& ids,
                            const Tensor& log_probabilities) {
  for (int64_t i = 0; i < logits.dim(0); ++i) {
    const TokenRule& rule = params.rules[static_cast<size_t>(i)];
    const float* mask = params.masks != nullptr ? row(*params.masks, rule.mask) : nullptr;
    const auto values =
        ruled(penalised({row(logits, i), static_cast<size_t>(logits.dim(1))},
                        params.penalties.subspan(static_cast<size_t>(rule.penalties_begin),
                                                 static_cast<size_t>(rule.penalties_count))),
              mask, rule);
    const double total = log_sum_exp(values);
    const auto picked = rule.temperature > 0.0F
                            ? std::vector{sampled(values, rule.temperature, rule.uniform)}
                            : likeliest(values, params.top);
    for (int64_t k = 0; k < params.top; ++k) {
      const int64_t id = picked[static_cast<size_t>(k)];
      const double value = values[static_cast<size_t>(id)];
      row<int32_t>(ids, i)[k] = static_cast<int32_t>(id);
      row(log_probabilities, i)[k] = static_cast<float>(value == -INFINITY ? value : value - total);
    }
  }
}

}  // namespace mynah
