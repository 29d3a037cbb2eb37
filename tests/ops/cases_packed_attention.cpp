// Rows of the table: attention over packed keys and values, and its probabilities.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"
#include "tensor/quantize.h"

namespace mynah::cases {
namespace {

// Reader i has queries[i] queries of the keys[i] rows of utterance readers_of[i]; `readers_of`
// empty: each reader has an utterance of its own.
struct PackedRow {
  std::vector<int64_t> queries = {};
  std::vector<int64_t> keys = {};       // rows of each utterance
  std::vector<size_t> utterances = {};  // of each reader
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t d = 64;
  int64_t tail = 0;  // rows; 0: none
  int64_t group = 1;
  DType dtype = DType::F32;  // that keys and values come in
  Precision precision = Precision::Exact;
  Layout layout = Layout::Contiguous;

  [[nodiscard]] float scale() const { return 1.0F / std::sqrt(static_cast<float>(d)); }

  [[nodiscard]] size_t utterance_of(size_t reader) const {
    return utterances.empty() ? reader : utterances[reader];
  }

  [[nodiscard]] std::string title() const {
    return fmt::format(
        "{}{} queries [{}] keys [{}]{}{} heads {}/{} of {}{}", name(dtype),
        precision == Precision::Fast ? " fast" : "", fmt::join(queries, " "), fmt::join(keys, " "),
        utterances.empty() ? "" : fmt::format(" of [{}]", fmt::join(utterances, " ")),
        tail == 0 ? "" : fmt::format(" tail {} in groups of {}", tail, group), heads, kv_heads, d,
        layout == Layout::Strided ? " strided" : "");
  }
};

// Keys or values of some rows about `mean`, rounded to the type they come in.
std::vector<float> rounded(const PackedRow& row, int64_t rows, float mean, uint64_t seed) {
  std::vector<float> values = normals(rows * row.kv_heads * row.d, seed);
  for (float& value : values) {
    value += mean;
  }
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  quantize(row.dtype, values, bytes.data());
  dequantize(row.dtype, bytes.data(), values);
  return values;
}

// Values have a mean that would be missed.
constexpr float kMeanValue = 3.0F;

struct Numbers {
  explicit Numbers(const PackedRow& row)
      : queries(row.queries), q(normals(queries.total() * row.heads * row.d, 1)) {
    for (size_t u = 0; u < row.keys.size(); ++u) {
      k.push_back(rounded(row, row.keys[u], 0.0F, 10 + u));
      v.push_back(rounded(row, row.keys[u], kMeanValue, 50 + u));
    }
    k.push_back(rounded(row, row.tail, 0.0F, 2));  // the tail's are the last
    v.push_back(rounded(row, row.tail, kMeanValue, 3));
  }

  Lengths queries;
  std::vector<float> q;
  std::vector<std::vector<float>> k;
  std::vector<std::vector<float>> v;
};

KeysValues pack(Backend& backend, const PackedRow& row, const Numbers& numbers, size_t u) {
  const int64_t width = row.kv_heads * row.d;
  const auto tensor = [&](const std::vector<float>& values) {
    const Tensor x =
        matrix(backend, values, static_cast<int64_t>(values.size()) / width, width, row.layout);
    return row.dtype == DType::F32 ? x : ops::cast(backend, x, row.dtype);
  };
  return ops::pack_keys_values(backend, tensor(numbers.k[u]), tensor(numbers.v[u]), row.kv_heads,
                               row.precision);
}

Step prepare(Backend& backend, const PackedRow& row) {
  const Numbers numbers(row);
  const Tensor q =
      matrix(backend, numbers.q, numbers.queries.total(), row.heads * row.d, row.layout);
  std::vector<KeysValues> packed;
  for (size_t u = 0; u <= row.keys.size(); ++u) {
    packed.push_back(pack(backend, row, numbers, u));
  }
  return [=, queries = numbers.queries, &backend]() -> std::vector<Tensor> {
    std::vector<const KeysValues*> keys;
    keys.reserve(row.queries.size());
    for (size_t reader = 0; reader < row.queries.size(); ++reader) {
      keys.push_back(&packed[row.utterance_of(reader)]);
    }
    return {ops::attention_packed(backend, q,
                                  {.heads = row.heads,
                                   .scale = row.scale(),
                                   .queries = queries.spans(),
                                   .keys = keys,
                                   .tail = row.tail > 0 ? &packed.back() : nullptr,
                                   .tail_group = row.group})};
  };
}

float largest(std::span<const float> values) {
  float peak = 0.0F;
  for (const float value : values) {
    peak = std::max(peak, std::fabs(value));
  }
  return peak;
}

// Largest error of one query's scores over rows [from, ...) of some keys, for one head.
float worst_score(const PackedRow& row, const Numbers& numbers, const std::vector<float>& keys,
                  int64_t from, int64_t query, int64_t head) {
  const int64_t width = row.kv_heads * row.d;
  const std::span<const float> q(numbers.q.data() + query * row.heads * row.d + head * row.d,
                                 static_cast<size_t>(row.d));
  float worst = 0.0F;
  for (int64_t n = from; n < static_cast<int64_t>(keys.size()) / width; ++n) {
    const float* k = keys.data() + n * width + head / (row.heads / row.kv_heads) * row.d;
    worst = std::max(worst, score_error(q, k, row.scale(), row.precision));
  }
  return worst;
}

// Scores of one query over rows [from, ...) of some keys, for one head.
void add_scores(const PackedRow& row, const Numbers& numbers, const std::vector<float>& keys,
                int64_t from, int64_t query, int64_t head, int64_t group,
                std::vector<float>& scores) {
  const int64_t width = row.kv_heads * row.d;
  const float* q = numbers.q.data() + query * row.heads * row.d + head * row.d;
  for (int64_t n = from; n < static_cast<int64_t>(keys.size()) / width; ++n) {
    const float* k = keys.data() + n * width + head / (row.heads / row.kv_heads) * row.d;
    scores.push_back(row.scale() * std::inner_product(q, q + row.d, k, 0.0F) +
                     std::log(static_cast<float>(group)));
  }
}

// What rounding does to the weights exp(score - largest), in steps of 1 / 255, as a part of their
// sum: a weight is half a step off at most, and at most as much as it is.
float weight_error(const std::vector<float>& scores) {
  constexpr float kStep = 1.01F / 255.0F;
  constexpr float kExponential = 1.5e-4F;  // relative, its own and the sum's
  const float top = scores.empty() ? 0.0F : std::ranges::max(scores);
  float sum = 0.0F;
  float worst = 0.0F;
  for (const float score : scores) {
    const float weight = std::exp(score - top);
    sum += weight;
    worst += std::min(weight, 0.5F * kStep);
  }
  const float likely =
      6.0F / std::sqrt(12.0F) * kStep * std::sqrt(static_cast<float>(scores.size()));
  return std::min(worst, likely) / std::max(sum, 1.0F) + kExponential;
}

// The furthest that values are from kMeanValue, twice: from the mean of any of them.
float spread(std::span<const float> values) {
  float furthest = 0.0F;
  for (const float value : values) {
    furthest = std::max(furthest, std::fabs(value - kMeanValue));
  }
  return 2.0F * furthest;
}

// A probability errs relatively by twice the worst score error (its own and the sum's) and by the
// rounding of exp and of the sum; the mix errs by that times the values' magnitude, at most their
// largest. With Fast, weights and values are rounded to int8 too, values relative to their mean.
std::vector<Values> bound(const PackedRow& row) {
  const Numbers numbers(row);
  Values bounds;
  for (size_t reader = 0; reader < row.queries.size(); ++reader) {
    const size_t u = row.utterance_of(reader);
    const float rounding = sum_error(row.keys[u] + row.tail) + 8.0F * kEpsilon;
    const float peak = std::max(largest(numbers.v[u]), largest(numbers.v.back()));
    const float range = std::max(spread(numbers.v[u]), spread(numbers.v.back()));
    const Span queries = numbers.queries[static_cast<int64_t>(reader)];
    for (int64_t i = queries.begin; i < queries.end(); ++i) {
      for (int64_t head = 0; head < row.heads; ++head) {
        const float score =
            std::max(worst_score(row, numbers, numbers.k[u], 0, i, head),
                     worst_score(row, numbers, numbers.k.back(), row.keys[u] / row.group, i, head));
        float bound = (2.0F * score + rounding) * peak;
        if (row.precision == Precision::Fast) {
          std::vector<float> scores;
          add_scores(row, numbers, numbers.k[u], 0, i, head, 1, scores);
          add_scores(row, numbers, numbers.k.back(), row.keys[u] / row.group, i, head, row.group,
                     scores);
          bound += (weight_error(scores) + 0.505F / 127.0F) * range;
        }
        bounds.insert(bounds.end(), static_cast<size_t>(row.d), bound);
      }
    }
  }
  return {bounds};
}

OpCase packed_case(const PackedRow& row) {
  OpCase c;
  c.op = "attention_packed";
  c.name = row.title();
  c.prepare = [row](Backend& backend) { return prepare(backend, row); };
  c.bound = [row](const std::vector<Values>&) { return bound(row); };
  return c;
}

OpCase probabilities_case(const PackedRow& row, int64_t positions) {
  OpCase c;
  c.op = "attention_probabilities";
  c.name = fmt::format("{} first {}", row.title(), positions);
  c.prepare = [row, positions](Backend& backend) -> Step {
    const Numbers numbers(row);
    const Tensor q =
        matrix(backend, numbers.q, numbers.queries.total(), row.heads * row.d, row.layout);
    const KeysValues keys = pack(backend, row, numbers, 0);
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::attention_probabilities(backend, q, keys, positions, row.heads, row.scale())};
    };
  };
  c.bound = [row, positions](const std::vector<Values>& expected) {
    const Numbers numbers(row);
    std::vector<Values> bounds = expected;  // (heads, queries, positions)
    for (size_t i = 0; i < bounds[0].size(); ++i) {
      const int64_t line = static_cast<int64_t>(i) / positions;
      const float score =
          worst_score(row, numbers, numbers.k[0], 0, line % row.queries[0], line / row.queries[0]);
      bounds[0][i] *= 2.0F * score + sum_error(positions) + 8.0F * kEpsilon;
    }
    return bounds;
  };
  return c;
}

void add_timed(std::vector<OpCase>& table) {
  const auto timed = [&](PackedRow row) {
    OpCase c = packed_case(row);
    double pairs = 0.0;
    double keys = static_cast<double>(row.tail);
    for (const int64_t rows : row.keys) {
      keys += static_cast<double>(rows);
    }
    for (size_t i = 0; i < row.queries.size(); ++i) {
      const int64_t own = row.keys[row.utterance_of(i)];
      const int64_t seen = own + std::max<int64_t>(0, row.tail - own / row.group);
      pairs += static_cast<double>(row.queries[i] * seen);
    }
    c.operations = 4.0 * pairs * static_cast<double>(row.heads * row.d);
    const DType kept = row.precision == Precision::Fast ? DType::I8 : DType::F32;
    c.bytes = 2.0 * keys * static_cast<double>(storage_bytes(kept, row.kv_heads * row.d));
    c.arithmetic = arithmetic_of(kept, row.precision);
    c.large = true;
    table.push_back(std::move(c));
  };
  // Whisper tiny: the encoder's whole window and five seconds before silence; a step of the decoder
  // for one utterance, and for eight of them with five hypotheses each.
  for (const Precision precision : {Precision::Exact, Precision::Fast}) {
    PackedRow row{.heads = 6, .kv_heads = 6, .precision = precision};
    row.queries = {1500};
    row.keys = {1500};
    timed(row);
    row.queries = {280};
    row.keys = {280};
    row.tail = 150;
    row.group = 10;
    timed(row);
    row.tail = 1500;
    row.group = 1;
    row.queries = {1};
    timed(row);
    row.queries.clear();
    row.keys = {280, 280, 280, 280, 280, 280, 280, 280};
    for (size_t i = 0; i < 40; ++i) {
      row.queries.push_back(1);
      row.utterances.push_back(i / 5);
    }
    timed(row);
  }
}

}  // namespace

void add_packed_attention_cases(std::vector<OpCase>& table) {
  const std::vector<PackedRow> rows = {
      {.queries = {1}, .keys = {1}, .d = 1},
      {.queries = {1}, .keys = {17}, .heads = 3, .kv_heads = 3, .d = 8},
      {.queries = {7}, .keys = {31}, .heads = 2, .kv_heads = 2, .d = 15},
      {.queries = {3}, .keys = {80}, .heads = 8, .kv_heads = 1, .d = 32},
      {.queries = {16, 1, 8}, .keys = {16, 63, 3}, .heads = 2, .kv_heads = 2, .d = 64},
      {.queries = {3, 0, 2}, .keys = {4, 5, 0}, .heads = 2, .kv_heads = 2, .d = 7},
      {.queries = {1, 1, 1, 1, 1},
       .keys = {5, 64},
       .utterances = {0, 1, 0, 1, 1},
       .heads = 3,
       .kv_heads = 3},
      {.queries = {17, 40}, .keys = {17, 40}, .heads = 2, .kv_heads = 2, .tail = 96},
      {.queries = {5}, .keys = {8}, .heads = 2, .kv_heads = 1, .d = 16, .tail = 8},
      {.queries = {1, 1}, .keys = {0, 9}, .heads = 3, .kv_heads = 3, .tail = 31},
      {.queries = {1, 2, 1, 1},
       .keys = {90, 10, 40},
       .utterances = {0, 1, 2, 1},
       .heads = 2,
       .kv_heads = 2,
       .tail = 90},
      {.queries = {30, 20, 5},
       .keys = {30, 20, 90},
       .heads = 2,
       .kv_heads = 2,
       .tail = 9,
       .group = 10},
      {.queries = {3, 5},
       .keys = {6, 60},
       .heads = 2,
       .kv_heads = 1,
       .d = 17,
       .tail = 20,
       .group = 3},
      {.queries = {65, 12},
       .keys = {65, 300},
       .heads = 2,
       .kv_heads = 2,
       .d = 80,
       .layout = Layout::Strided},
      {.queries = {2, 2},
       .keys = {63, 15},
       .heads = 3,
       .kv_heads = 3,
       .d = 63,
       .layout = Layout::Strided},
      {.queries = {131, 1, 30},
       .keys = {130, 20},
       .utterances = {0, 1, 1},
       .heads = 2,
       .kv_heads = 2,
       .tail = 40,
       .group = 10},
      {.queries = {67}, .keys = {97}, .heads = 3, .kv_heads = 1, .d = 96},
      {.queries = {20}, .keys = {33}, .heads = 2, .kv_heads = 2, .d = 128, .tail = 70},
      {.queries = {20}, .keys = {33}, .heads = 1, .kv_heads = 1, .d = 136, .tail = 70},
  };
  for (const Precision precision : {Precision::Exact, Precision::Fast}) {
    for (PackedRow row : rows) {
      row.precision = precision;
      table.push_back(packed_case(row));
    }
    for (const DType dtype : {DType::F16, DType::BF16}) {
      table.push_back(packed_case({.queries = {9},
                                   .keys = {33},
                                   .heads = 2,
                                   .kv_heads = 2,
                                   .d = 20,
                                   .dtype = dtype,
                                   .precision = precision}));
    }
    for (const auto& [queries, keys, positions] :
         {std::tuple{1, 1, 1}, std::tuple{7, 33, 20}, std::tuple{50, 80, 80}}) {
      table.push_back(probabilities_case({.queries = {queries},
                                          .keys = {keys},
                                          .heads = 4,
                                          .kv_heads = 2,
                                          .d = 17,
                                          .precision = precision},
                                         positions));
    }
  }
  add_timed(table);
}

}  // namespace mynah::cases
