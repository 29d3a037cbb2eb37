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

// Keys that query i of `queries` sees, as rows behind the first of `keys`.
Span visible_keys(const AttentionParams& params, const Span& queries, const Span& keys, int64_t i) {
  const int64_t end =
      params.causal ? std::clamp<int64_t>(keys.length - queries.length + i + 1, 0, keys.length)
                    : keys.length;
  const int64_t begin = params.window == 0 ? 0 : std::max<int64_t>(0, end - params.window);
  return {begin, end - begin};
}

// x as f32.
Tensor widened(Backend& backend, const Tensor& x) {
  Tensor wide(backend.allocate(storage_bytes(DType::F32, x.elements())), 0, x.shape(), DType::F32,
              backend.device());
  backend.dequantize(x, wide);
  return wide;
}

// Scores to probabilities, in place; `sink` is the score of a key that nobody mixes.
void to_probabilities(std::vector<double>& scores, double sink = -INFINITY) {
  double highest = sink;
  for (const double score : scores) {
    highest = std::max(highest, score);
  }
  double sum = sink == -INFINITY ? 0.0 : std::exp(sink - highest);
  for (double& score : scores) {
    score = std::exp(score - highest);
    sum += score;
  }
  for (double& score : scores) {
    score /= sum;
  }
}

double dot(const float* a, const float* b, int64_t n) {
  double sum = 0.0;
  for (int64_t j = 0; j < n; ++j) {
    sum += static_cast<double>(a[j]) * b[j];
  }
  return sum;
}

// Packed here means f32 rows, the keys' before the values'.
const float* key_of(const KeysValues& packed, int64_t row, int64_t head) {
  return packed.data.data<float>() + row * packed.heads * packed.head_dim + head * packed.head_dim;
}

const float* value_of(const KeysValues& packed, int64_t row, int64_t head) {
  return key_of(packed, packed.rows + row, head);
}

// A key that a query sees, its value, and how many keys it stands for.
struct SeenKey {
  const float* key;
  const float* value;
  int64_t count;
};

std::vector<SeenKey> seen_keys(const KeysValues& own, const PackedAttentionParams& params,
                               int64_t head) {
  std::vector<SeenKey> seen;
  seen.reserve(static_cast<size_t>(own.rows + (params.tail == nullptr ? 0 : params.tail->rows)));
  for (int64_t n = 0; n < own.rows; ++n) {
    seen.push_back({key_of(own, n, head), value_of(own, n, head), 1});
  }
  for (int64_t r = 0; params.tail != nullptr && r < params.tail->rows; ++r) {
    if (r * params.tail_group >= own.rows) {
      seen.push_back(
          {key_of(*params.tail, r, head), value_of(*params.tail, r, head), params.tail_group});
    }
  }
  return seen;
}

}  // namespace

void RefBackend::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionParams& params, const Tensor& out) {
  if (is_block_type(k.dtype())) {
    return attention(q, widened(*this, k), widened(*this, v), params, out);
  }
  const int64_t d = q.dim(1) / params.heads;
  for (size_t u = 0; u < params.queries.size(); ++u) {
    const Span queries = params.queries[u];
    for (int64_t i = 0; i < queries.length * params.heads; ++i) {
      const int64_t query = queries.begin + i / params.heads;
      const int64_t head = i % params.heads;
      const int64_t column = head / (params.heads / params.kv_heads) * d;
      const Span visible = visible_keys(params, queries, params.keys[u], i / params.heads);
      const int64_t first = params.keys[u].begin + visible.begin;
      std::vector<double> weights(static_cast<size_t>(visible.length));
      for (int64_t n = 0; n < visible.length; ++n) {
        double sum = 0.0;
        for (int64_t j = 0; j < d; ++j) {
          sum += static_cast<double>(row(q, query)[head * d + j]) *
                 at(k, params.pages.row(first + n), column + j);
        }
        sum *= params.scale;
        weights[static_cast<size_t>(n)] =
            params.score_cap > 0 ? params.score_cap * std::tanh(sum / params.score_cap) : sum;
      }
      to_probabilities(weights, params.sinks == nullptr ? -INFINITY : row(*params.sinks, 0)[head]);
      for (int64_t j = 0; j < d; ++j) {
        double sum = 0.0;
        for (int64_t n = 0; n < visible.length; ++n) {
          sum += weights[static_cast<size_t>(n)] * at(v, params.pages.row(first + n), column + j);
        }
        row(out, query)[head * d + j] = static_cast<float>(sum);
      }
    }
  }
}

KeysValues RefBackend::pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                        Precision precision) {
  const int64_t rows = k.dim(0);
  const int64_t width = k.dim(1);
  const size_t bytes = keys_values_bytes(rows, heads, width / heads, precision);
  KeysValues packed{rows, heads, width / heads, precision,
                    Tensor(allocate(bytes), 0, {static_cast<int64_t>(bytes)}, DType::U8, device())};
  auto* to = packed.data.data<float>();
  for (const Tensor* x : {&k, &v}) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        *to++ = at(*x, i, j);
      }
    }
  }
  return packed;
}

size_t RefBackend::keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                     Precision /*precision*/) const {
  return storage_bytes(DType::F32, std::max<int64_t>(1, 2 * rows * heads * head_dim));
}

void RefBackend::attention_packed(const Tensor& q, const PackedAttentionParams& params,
                                  const Tensor& out) {
  const int64_t d = q.dim(1) / params.heads;
  for (size_t reader = 0; reader < params.queries.size(); ++reader) {
    const Span queries = params.queries[reader];
    const KeysValues& own = *params.keys[reader];
    for (int64_t head = 0; head < params.heads; ++head) {
      const std::vector<SeenKey> seen = seen_keys(own, params, head / (params.heads / own.heads));
      for (int64_t i = queries.begin; i < queries.end(); ++i) {
        std::vector<double> weights;
        weights.reserve(seen.size());
        for (const SeenKey& key : seen) {
          // So many equal keys: exp(score) count times over.
          weights.push_back(dot(row(q, i) + head * d, key.key, d) * params.scale +
                            std::log(static_cast<double>(key.count)));
        }
        to_probabilities(weights);
        for (int64_t j = 0; j < d; ++j) {
          double sum = 0.0;
          for (size_t n = 0; n < seen.size(); ++n) {
            sum += weights[n] * seen[n].value[j];
          }
          row(out, i)[head * d + j] = static_cast<float>(sum);
        }
      }
    }
  }
}

void RefBackend::attention_probabilities(const Tensor& q, const KeysValues& keys, int64_t heads,
                                         float scale, const Tensor& out) {
  const int64_t d = q.dim(1) / heads;
  std::vector<double> weights(static_cast<size_t>(out.dim(2)));
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < q.dim(0); ++i) {
      for (int64_t n = 0; n < out.dim(2); ++n) {
        weights[static_cast<size_t>(n)] =
            dot(row(q, i) + head * d, key_of(keys, n, head / (heads / keys.heads)), d) * scale;
      }
      to_probabilities(weights);
      float* probabilities = out.data<float>() + head * out.stride(0) + i * out.stride(1);
      std::ranges::transform(weights, probabilities,
                             [](double weight) { return static_cast<float>(weight); });
    }
  }
}

void RefBackend::rope(const Tensor& x, const Tensor& turns, int64_t heads, RopePairs pairs,
                      const Tensor& out) {
  const int64_t d = x.dim(1) / heads;
  const int64_t count = turns.dim(1) / 2;
  for (int64_t i = 0; i < x.dim(0); ++i) {
    std::copy_n(row(x, i), x.dim(1), row(out, i));
    for (int64_t pair = 0; pair < heads * count; ++pair) {
      const int64_t j = pair % count;
      const int64_t head = pair / count * d;
      const int64_t first = head + (pairs == RopePairs::Halves ? j : 2 * j);
      const int64_t second = pairs == RopePairs::Halves ? first + count : first + 1;
      const double cosine = row(turns, i)[j];
      const double sine = row(turns, i)[count + j];
      const double a = row(x, i)[first];
      const double b = row(x, i)[second];
      row(out, i)[first] = static_cast<float>(a * cosine - b * sine);
      row(out, i)[second] = static_cast<float>(b * cosine + a * sine);
    }
  }
}

}  // namespace mynah
