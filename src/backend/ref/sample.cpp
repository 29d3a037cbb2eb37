// The choice of the next token (SampleRow, tensor/op_params.h).
#include <algorithm>
#include <cmath>
#include <functional>
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

// What the row leaves of the logits, -infinity where a token may not come.
std::vector<double> allowed(std::span<const float> logits, const float* mask,
                            const SampleRow& sample) {
  std::vector<double> values(logits.size(), -INFINITY);
  for (int64_t id = 0; id < std::ssize(logits); ++id) {
    const double value =
        static_cast<double>(logits[static_cast<size_t>(id)]) + (mask != nullptr ? mask[id] : 0.0F);
    if ((sample.first.contains(id) || sample.second.contains(id)) && !std::isnan(value)) {
      values[static_cast<size_t>(id)] = value;
    }
  }
  const auto tokens = [&](const TokenRange& range) {
    const TokenRange within = range.within(std::ssize(values));
    return std::span(values).subspan(static_cast<size_t>(within.begin),
                                     static_cast<size_t>(within.end - within.begin));
  };
  const std::span first = tokens(sample.first);
  if (sample.prefer_second && !first.empty() &&
      log_sum_exp(tokens(sample.second)) > *std::ranges::max_element(first)) {
    std::ranges::fill(first, -INFINITY);
  }
  return values;
}

// Tokens with the weights, relative to the likeliest one's, of softmax(values).
struct Weighted {
  double value;
  double weight;
  int64_t id;
};

// Leaves the fewest of the first whose weights add up to enough, at least one:
// enough(sum, share of all).
template <class Enough>
void keep_share(std::vector<Weighted>& tokens, double share, const Enough& enough) {
  double total = 0.0;
  for (const Weighted& token : tokens) {
    total += token.weight;
  }
  double sum = 0.0;
  size_t kept = 0;
  while (kept < tokens.size() && (kept == 0 || !enough(sum, share * total))) {
    sum += tokens[kept++].weight;
  }
  tokens.resize(kept);
}

void sort_by_likelihood(std::vector<Weighted>& tokens) {
  std::ranges::sort(tokens, [](const Weighted& a, const Weighted& b) {
    return a.value != b.value ? a.value > b.value : a.id < b.id;
  });
}

// Leaves the most typical tokens. With p = e^x / Z, -log p is log Z - x and H is log Z - E[x], so
// that |-log p - H| is |x - E[x]|.
void keep_typical(std::vector<Weighted>& tokens, double share) {
  double total = 0.0;
  double sum = 0.0;
  for (const Weighted& token : tokens) {
    total += token.weight;
    sum += token.weight * token.value;
  }
  std::ranges::sort(tokens, [&](const Weighted& a, const Weighted& b) {
    const double of_a = std::abs(a.value - sum / total);
    const double of_b = std::abs(b.value - sum / total);
    return of_a != of_b ? of_a < of_b : a.id < b.id;
  });
  keep_share(tokens, share, std::greater());
}

// The values that the filters leave, -infinity elsewhere.
std::vector<double> filtered(std::span<const double> values, const SampleRow& sample) {
  std::vector<Weighted> tokens;
  const double highest = *std::ranges::max_element(values);
  for (int64_t id = 0; id < std::ssize(values); ++id) {
    const double value = values[static_cast<size_t>(id)];
    if (value > -INFINITY) {
      tokens.push_back({value, std::exp(value - highest), id});
    }
  }
  sort_by_likelihood(tokens);
  if (sample.top_k > 0 && std::ssize(tokens) > sample.top_k) {
    tokens.resize(static_cast<size_t>(sample.top_k));
  }
  if (sample.typical_p < 1.0F) {
    keep_typical(tokens, sample.typical_p);
    sort_by_likelihood(tokens);
  }
  if (sample.top_p < 1.0F) {
    keep_share(tokens, sample.top_p, std::greater_equal());
  }
  if (sample.min_p > 0.0F && !tokens.empty()) {
    // In f32, as values are: both sides of the border are the same on every processor.
    const float lowest = static_cast<float>(tokens.front().value) + std::log(sample.min_p);
    std::erase_if(tokens, [lowest](const Weighted& token) {
      return token.value < static_cast<double>(lowest);
    });
  }
  std::vector<double> left(values.size(), -INFINITY);
  for (const Weighted& token : tokens) {
    left[static_cast<size_t>(token.id)] = token.value;
  }
  return left;
}

// The token at which the cumulative of softmax(values / temperature) passes `uniform`.
int64_t drawn(std::span<const double> values, double temperature, double uniform) {
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

void RefBackend::sample(const Tensor& logits, const SampleParams& params, const Tensor& ids,
                        const Tensor& log_probabilities) {
  for (int64_t i = 0; i < logits.dim(0); ++i) {
    const SampleRow& sample = params.rows[static_cast<size_t>(i)];
    const float* mask = params.masks != nullptr ? row(*params.masks, sample.mask) : nullptr;
    const auto values =
        allowed(penalised({row(logits, i), static_cast<size_t>(logits.dim(1))},
                          params.penalties.subspan(static_cast<size_t>(sample.penalties_begin),
                                                   static_cast<size_t>(sample.penalties_count))),
                mask, sample);
    const double total = log_sum_exp(values);
    const auto ids_of_row =
        sample.temperature > 0.0F
            ? std::vector{drawn(filtered(values, sample), sample.temperature, sample.uniform)}
            : likeliest(values, params.top);
    for (int64_t k = 0; k < params.top; ++k) {
      const int64_t id = ids_of_row[static_cast<size_t>(k)];
      const double value = values[static_cast<size_t>(id)];
      row<int32_t>(ids, i)[k] = static_cast<int32_t>(id);
      row(log_probabilities, i)[k] = static_cast<float>(value == -INFINITY ? value : value - total);
    }
  }
}

}  // namespace mynah
