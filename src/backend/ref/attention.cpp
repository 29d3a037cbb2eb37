// Attention, its probabilities, rotary positions.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::at;
using ref::row;

namespace {

// Where one utterance's key or value number n stands: among its own rows or in the tail.
struct Rows {
  const Tensor& own;
  Span span;
  const Tensor* tail;

  [[nodiscard]] float element(int64_t n, int64_t j) const {
    return n < span.length ? at(own, span.begin + n, j) : at(*tail, n, j);
  }
};

// Keys that query i of `queries` sees.
int64_t visible_keys(const AttentionParams& params, const Span& queries, const Span& keys,
                     int64_t i) {
  if (params.causal) {
    return std::max<int64_t>(0, std::min(keys.length, keys.length - queries.length + i + 1));
  }
  const int64_t tail = params.tail_k != nullptr ? params.tail_k->dim(0) : 0;
  return std::max(keys.length, tail);
}

// Softmax of scale * q . k over the visible keys: head h of one row of queries.
std::vector<double> weights_of(const float* q, const Rows& keys, int64_t visible,
                               const AttentionParams& params, int64_t head, int64_t d) {
  const int64_t kv_head = head / (params.heads / params.kv_heads);
  std::vector<double> weights(static_cast<size_t>(visible));
  double highest = -INFINITY;
  for (int64_t n = 0; n < visible; ++n) {
    double dot = 0.0;
    for (int64_t j = 0; j < d; ++j) {
      dot += static_cast<double>(q[head * d + j]) * keys.element(n, kv_head * d + j);
    }
    weights[static_cast<size_t>(n)] = dot * params.scale;
    highest = std::max(highest, weights[static_cast<size_t>(n)]);
  }
  double sum = 0.0;
  for (double& weight : weights) {
    weight = std::exp(weight - highest);
    sum += weight;
  }
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

}  // namespace

void RefBackend::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionParams& params, const Tensor& out) {
  const int64_t d = q.dim(1) / params.heads;
  for (size_t u = 0; u < params.queries.size(); ++u) {
    const Span queries = params.queries[u];
    const Rows keys{k, params.keys[u], params.tail_k};
    const Rows values{v, params.keys[u], params.tail_v};
    for (int64_t i = 0; i < queries.length * params.heads; ++i) {
      const int64_t query = queries.begin + i / params.heads;
      const int64_t head = i % params.heads;
      const int64_t kv_head = head / (params.heads / params.kv_heads);
      const int64_t visible = visible_keys(params, queries, params.keys[u], i / params.heads);
      const auto weights = weights_of(row(q, query), keys, visible, params, head, d);
      for (int64_t j = 0; j < d; ++j) {
        double sum = 0.0;
        for (int64_t n = 0; n < visible; ++n) {
          sum += weights[static_cast<size_t>(n)] * values.element(n, kv_head * d + j);
        }
        row(out, query)[head * d + j] = static_cast<float>(sum);
      }
    }
  }
}

void RefBackend::attention_probabilities(const Tensor& q, const Tensor& k,
                                         const AttentionParams& params, const Tensor& out) {
  const Span queries = params.queries[0];
  const Rows keys{k, params.keys[0], nullptr};
  for (int64_t head = 0; head < params.heads; ++head) {
    for (int64_t i = 0; i < queries.length; ++i) {
      const int64_t visible = visible_keys(params, queries, keys.span, i);
      const auto weights = weights_of(row(q, queries.begin + i), keys, visible, params, head,
                                      q.dim(1) / params.heads);
      float* probabilities = out.data<float>() + head * out.stride(0) + i * out.stride(1);
      for (int64_t n = 0; n < keys.span.length; ++n) {
        probabilities[n] = n < visible ? static_cast<float>(weights[static_cast<size_t>(n)]) : 0.0F;
      }
    }
  }
}

void RefBackend::rope(const Tensor& x, const Tensor& positions, int64_t heads, float theta,
                      const Tensor& out) {
  const int64_t half = x.dim(1) / heads / 2;
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const double position = positions.data<int32_t>()[i];
    for (int64_t pair = 0; pair < heads * half; ++pair) {
      const int64_t j = pair % half;
      const double angle =
          position * std::pow(static_cast<double>(theta), -static_cast<double>(j) / half);
      const int64_t first = pair / half * 2 * half + j;
      const double a = row(x, i)[first];
      const double b = row(x, i)[first + half];
      row(out, i)[first] = static_cast<float>(a * std::cos(angle) - b * std::sin(angle));
      row(out, i)[first + half] = static_cast<float>(b * std::cos(angle) + a * std::sin(angle));
    }
  }
}

}  // namespace mynah
