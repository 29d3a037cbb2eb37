// Rows of the table: attention, its probabilities, rotary positions.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"
#include "tensor/quantize.h"

namespace mynah::cases {
namespace {

struct AttentionRow {
  std::vector<int64_t> queries;
  std::vector<int64_t> keys;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t d = 64;
  bool causal = false;
  DType dtype = DType::F32;
  Precision precision = Precision::Exact;
  Layout layout = Layout::Contiguous;
  int64_t page_rows = 0;  // 0: no pages
  int64_t window = 0;     // 0: none
  float cap = 0.0F;       // of scores; 0: none
  bool sinks = false;

  [[nodiscard]] float scale() const { return 1.0F / std::sqrt(static_cast<float>(d)); }
};

// The numbers of a row of the table: queries, and keys and values rounded to the cache's type.
struct AttentionInputs {
  explicit AttentionInputs(const AttentionRow& row)
      : queries(row.queries),
        keys(spans(row)),
        pages(shuffled_pages(row)),
        q(normals(queries.total() * row.heads * row.d, 1)),
        k(rounded(row, total_keys(row), 2)),
        v(rounded(row, total_keys(row), 3)),
        sinks(normals(row.sinks ? row.heads : 0, 4)) {}

  // Keys lie apart, as in a cache with room to grow: two unused rows before each utterance, or what
  // is left of its last page.
  static std::vector<Span> spans(const AttentionRow& row) {
    constexpr int64_t kGap = 2;
    std::vector<Span> spans;
    int64_t end = 0;
    for (const int64_t length : row.keys) {
      const int64_t begin = row.page_rows == 0 ? end + kGap : whole_pages(row, end);
      spans.push_back({begin, length});
      end = begin + length;
    }
    return spans;
  }

  static int64_t whole_pages(const AttentionRow& row, int64_t rows) {
    return (rows + row.page_rows - 1) / row.page_rows * row.page_rows;
  }

  // As spans count them.
  static int64_t total_keys(const AttentionRow& row) {
    const int64_t end = spans(row).back().end();
    return row.page_rows == 0 ? end : whole_pages(row, end);
  }

  // Where each page lies: every other one from the front, the rest from the back, so that some are
  // neighbours.
  static std::vector<int32_t> shuffled_pages(const AttentionRow& row) {
    std::vector<int32_t> pages;
    const int64_t count = row.page_rows == 0 ? 0 : total_keys(row) / row.page_rows;
    pages.reserve(static_cast<size_t>(count));
    for (int64_t page = 0; page < count; ++page) {
      pages.push_back(static_cast<int32_t>(page % 4 < 2 ? page / 4 * 2 + page % 2
                                                        : count - 1 - page / 4 * 2 - page % 2));
    }
    return pages;
  }

  [[nodiscard]] PageTable table(const AttentionRow& row) const {
    return {.rows = row.page_rows, .pages = pages};
  }

  static std::vector<float> rounded(const AttentionRow& row, int64_t rows, uint64_t seed) {
    std::vector<float> values = normals(rows * row.kv_heads * row.d, seed);
    std::vector<std::byte> bytes(values.size() * 4);
    quantize(row.dtype, values, bytes.data());
    dequantize(row.dtype, bytes.data(), values);
    return values;
  }

  Lengths queries;
  std::vector<Span> keys;
  std::vector<int32_t> pages;
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
  std::vector<float> sinks;
};

struct AttentionTensors {
  AttentionTensors(Backend& backend, const AttentionRow& row, const AttentionInputs& inputs)
      : q(matrix(backend, inputs.q, inputs.queries.total(), row.heads * row.d, row.layout)),
        k(cache(backend, row, inputs, inputs.k)),
        v(cache(backend, row, inputs, inputs.v)),
        sinks(row.sinks ? ops::from_host(backend, inputs.sinks, {row.heads}) : Tensor()) {}

  static Tensor cache(Backend& backend, const AttentionRow& row, const AttentionInputs& inputs,
                      const std::vector<float>& counted) {
    const int64_t width = row.kv_heads * row.d;
    const int64_t rows = std::ssize(counted) / width;
    std::vector<float> values(counted.size());
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(counted.begin() + i * width, width,
                  values.begin() + inputs.table(row).row(i) * width);
    }
    if (is_block_type(row.dtype)) {
      return blocks(backend, values, {rows, width}, row.dtype);
    }
    const Tensor x = matrix(backend, values, rows, width, row.layout);
    return row.dtype == DType::F32 ? x : ops::cast(backend, x, row.dtype);
  }

  Tensor q;
  Tensor k;
  Tensor v;
  Tensor sinks;
};

Step prepare(Backend& backend, const AttentionRow& row) {
  const AttentionInputs inputs(row);
  const AttentionTensors t(backend, row, inputs);
  return [=, &backend]() -> std::vector<Tensor> {
    return {ops::attention(backend, t.q, t.k, t.v,
                           {.heads = row.heads,
                            .kv_heads = row.kv_heads,
                            .scale = row.scale(),
                            .causal = row.causal,
                            .window = row.window,
                            .queries = inputs.queries.spans(),
                            .keys = inputs.keys,
                            .pages = inputs.table(row),
                            .score_cap = row.cap,
                            .sinks = row.sinks ? &t.sinks : nullptr,
                            .precision = row.precision})};
  };
}

// Largest error of any score of one query and head, over all keys that it may see.
float worst_score(const AttentionRow& row, const AttentionInputs& inputs, size_t utterance,
                  int64_t query, int64_t head) {
  const int64_t width = row.kv_heads * row.d;
  const int64_t column = head / (row.heads / row.kv_heads) * row.d;
  const float* q = inputs.q.data() + query * row.heads * row.d + head * row.d;
  const Span& span = inputs.keys[utterance];
  float worst = 0.0F;
  for (int64_t n = 0; n < span.length; ++n) {
    const float* k = inputs.k.data() + (span.begin + n) * width + column;
    worst = std::max(worst,
                     score_error({q, static_cast<size_t>(row.d)}, k, row.scale(), row.precision));
  }
  return worst;
}

float largest(std::span<const float> values) {
  float peak = 0.0F;
  for (const float value : values) {
    peak = std::max(peak, std::fabs(value));
  }
  return peak;
}

// A cap rounds a few times more, and makes no error larger. A probability errs relatively by twice
// the worst score error (its own and the sum's) and by the rounding of exp and of the sum; the mix
// errs by that times the values' magnitude, at most their largest.
std::vector<Values> bound(const AttentionRow& row) {
  const AttentionInputs inputs(row);
  const float peak = largest(inputs.v);
  Values bounds;
  for (size_t u = 0; u < inputs.keys.size(); ++u) {
    const int64_t n = inputs.keys[u].length;
    const float rounding = sum_error(n) + 8.0F * kEpsilon +
                           (row.precision == Precision::Fast ? 2.0F * kBf16Rounding : 0.0F);
    const Span queries = inputs.queries[static_cast<int64_t>(u)];
    for (int64_t i = queries.begin; i < queries.end(); ++i) {
      for (int64_t head = 0; head < row.heads; ++head) {
        const float score = worst_score(row, inputs, u, i, head) + 6.0F * kEpsilon * row.cap;
        const float error = 2.0F * score + rounding;
        bounds.insert(bounds.end(), static_cast<size_t>(row.d), error * peak);
      }
    }
  }
  return {bounds};
}

OpCase attention_case(const AttentionRow& row) {
  OpCase c;
  c.op = "attention";
  c.name =
      fmt::format("{}{} queries [{}] keys [{}] heads {}/{} of {}{}{}{}{}{}{}", name(row.dtype),
                  row.precision == Precision::Fast ? " fast" : "", fmt::join(row.queries, " "),
                  fmt::join(row.keys, " "), row.heads, row.kv_heads, row.d,
                  row.causal ? " causal" : "", row.layout == Layout::Strided ? " strided" : "",
                  row.page_rows > 0 ? fmt::format(" pages of {}", row.page_rows) : "",
                  row.window > 0 ? fmt::format(" window of {}", row.window) : "",
                  row.cap > 0 ? fmt::format(" cap of {}", row.cap) : "", row.sinks ? " sinks" : "");
  c.prepare = [row](Backend& backend) { return prepare(backend, row); };
  c.bound = [row](const std::vector<Values>&) { return bound(row); };
  return c;
}

OpCase rope_case(int64_t rows, int64_t heads, int64_t d, int64_t pairs, RopePairs kind,
                 Layout layout) {
  OpCase c;
  c.op = "rope";
  c.name = fmt::format("{} rows, {} heads of {}, {} pairs{}{}", rows, heads, d, pairs,
                       kind == RopePairs::Neighbours ? " of neighbours" : "",
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(rows * heads * d, 1), rows, heads * d, layout);
    std::vector<float> by;
    by.reserve(static_cast<size_t>(rows * 2 * pairs));
    for (int64_t i = 0; i < rows * 2 * pairs; ++i) {
      const int64_t row = i / (2 * pairs);
      const auto angle = static_cast<double>(row * 7 + i % pairs);
      by.push_back(static_cast<float>(i % (2 * pairs) < pairs ? std::cos(angle) : std::sin(angle)));
    }
    const Tensor turns = matrix(backend, by, rows, 2 * pairs, layout);
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::rope(backend, x, turns, heads, kind)};
    };
  };
  // Two products and a sum of numbers below 5: half an epsilon of each.
  c.bound = each_value([](float) { return 5.0F * 2.0F * kEpsilon; });
  return c;
}

// Keys in pages, and in blocks.
void add_paged_cases(std::vector<OpCase>& table) {
  const std::vector<AttentionRow> rows = {
      {.queries = {1}, .keys = {1}, .d = 32, .causal = true},
      {.queries = {1, 1, 1}, .keys = {16, 130, 33}, .heads = 2, .kv_heads = 2, .causal = true},
      {.queries = {1, 3, 1}, .keys = {300, 17, 0}, .heads = 4, .kv_heads = 2, .d = 32},
      {.queries = {5, 20, 1}, .keys = {9, 70, 280}, .heads = 2, .kv_heads = 2, .causal = true},
      {.queries = {40, 1}, .keys = {40, 55}, .heads = 6, .kv_heads = 2, .d = 128, .causal = true},
      {.queries = {24}, .keys = {37}, .d = 32, .causal = true},
      {.queries = {24}, .keys = {0}, .d = 32},
      {.queries = {1, 3, 1, 2},
       .keys = {300, 17, 0, 33},
       .heads = 4,
       .kv_heads = 2,
       .d = 32,
       .causal = true,
       .window = 19},
      {.queries = {150, 1},
       .keys = {420, 280},
       .heads = 4,
       .kv_heads = 2,
       .d = 64,
       .causal = true,
       .window = 40},
      {.queries = {30}, .keys = {20}, .d = 32, .causal = true, .window = 1},
      {.queries = {1, 40, 3},
       .keys = {300, 150, 0},
       .heads = 4,
       .kv_heads = 2,
       .d = 32,
       .causal = true,
       .window = 130,
       .sinks = true},
      {.queries = {1, 40, 3},
       .keys = {300, 150, 0},
       .heads = 4,
       .kv_heads = 2,
       .d = 32,
       .causal = true,
       .window = 130,
       .cap = 1.5F},
      {.queries = {150, 2}, .keys = {160, 33}, .d = 64, .causal = true, .cap = 0.5F, .sinks = true},
      {.queries = {1, 20}, .keys = {140, 33}, .heads = 2, .d = 512, .causal = true},
  };
  const auto add = [&](DType dtype, int64_t page_rows, Precision precision = Precision::Exact) {
    for (AttentionRow row : rows) {
      row.dtype = dtype;
      row.page_rows = page_rows;
      row.precision = precision;
      table.push_back(attention_case(row));
    }
  };
  add(DType::F32, 16);
  add(DType::F16, 32);
  add(DType::F16, 16, Precision::Fast);
  add(DType::BF16, 16);
  add(DType::Q8_0, 0);
  add(DType::Q8_0, 16);
}

void add_timed_attention(std::vector<OpCase>& table) {
  const auto timed = [&](AttentionRow row) {
    OpCase c = attention_case(row);
    double pairs = 0.0;
    double keys = 0.0;
    for (size_t u = 0; u < row.keys.size(); ++u) {
      keys += static_cast<double>(row.keys[u]);
      pairs += static_cast<double>(row.queries[u] * row.keys[u]);
    }
    c.operations = 4.0 * pairs * static_cast<double>(row.heads * row.d);
    c.bytes = 2.0 * keys * static_cast<double>(storage_bytes(row.dtype, row.kv_heads * row.d));
    // Fast attention rounds keys and values to bfloat16 whatever they are stored in.
    c.arithmetic = arithmetic_of(DType::BF16, row.precision);
    c.large = true;
    table.push_back(std::move(c));
  };
  // Whisper tiny: the encoder's, a step of the decoder over the audio and over its own text.
  timed({.queries = {1500}, .keys = {1500}, .heads = 6, .kv_heads = 6});
  timed(
      {.queries = {1500}, .keys = {1500}, .heads = 6, .kv_heads = 6, .precision = Precision::Fast});
  for (const DType dtype : {DType::F16, DType::Q8_0}) {
    for (const int64_t page_rows : {0, 16}) {
      timed({.queries = {1},
             .keys = {4096},
             .heads = 16,
             .kv_heads = 4,
             .dtype = dtype,
             .page_rows = page_rows});
    }
  }
  for (const DType dtype : {DType::F32, DType::F16}) {
    timed({.queries = {1}, .keys = {1500}, .heads = 6, .kv_heads = 6, .dtype = dtype});
    timed(
        {.queries = {1}, .keys = {100}, .heads = 6, .kv_heads = 6, .causal = true, .dtype = dtype});
  }
}

}  // namespace

void add_attention_cases(std::vector<OpCase>& table) {
  const std::vector<AttentionRow> rows = {
      {.queries = {1}, .keys = {1}, .d = 1},
      {.queries = {1}, .keys = {17}, .heads = 3, .kv_heads = 3, .d = 8},
      {.queries = {7}, .keys = {31}, .heads = 2, .kv_heads = 2, .d = 15},
      {.queries = {33}, .keys = {33}, .heads = 2, .kv_heads = 2, .d = 64, .causal = true},
      {.queries = {1}, .keys = {65}, .heads = 6, .kv_heads = 6, .d = 64, .causal = true},
      {.queries = {4}, .keys = {20}, .heads = 4, .kv_heads = 2, .d = 16, .causal = true},
      {.queries = {3}, .keys = {80}, .heads = 8, .kv_heads = 1, .d = 32},
      {.queries = {16, 1, 8}, .keys = {16, 63, 3}, .heads = 2, .kv_heads = 2, .d = 64},
      {.queries = {1, 1, 1, 1}, .keys = {5, 64, 1, 33}, .heads = 6, .kv_heads = 6, .d = 64},
      {.queries = {3, 0, 2}, .keys = {4, 5, 0}, .heads = 2, .kv_heads = 2, .d = 7},
      {.queries = {5, 40, 1},
       .keys = {9, 170, 300},
       .heads = 2,
       .kv_heads = 1,
       .d = 40,
       .causal = true,
       .window = 35},
      {.queries = {6}, .keys = {3}, .heads = 1, .kv_heads = 1, .d = 16, .causal = true},
      {.queries = {33}, .keys = {40}, .heads = 1, .kv_heads = 1, .d = 192},
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
      {.queries = {140, 20}, .keys = {150, 47}, .heads = 2, .kv_heads = 1, .d = 64, .causal = true},
      {.queries = {70}, .keys = {65}, .heads = 2, .kv_heads = 2, .d = 128, .causal = true},
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    for (const Precision precision : {Precision::Exact, Precision::Fast}) {
      for (AttentionRow row : rows) {
        row.dtype = dtype;
        row.precision = precision;
        table.push_back(attention_case(row));
      }
    }
  }
  add_paged_cases(table);
  add_timed_attention(table);
  for (const RopePairs kind : {RopePairs::Halves, RopePairs::Neighbours}) {
    table.push_back(rope_case(1, 1, 2, 1, kind, Layout::Contiguous));
    table.push_back(rope_case(17, 3, 64, 32, kind, Layout::Contiguous));
    table.push_back(rope_case(9, 2, 30, 15, kind, Layout::Strided));
    table.push_back(rope_case(5, 3, 49, 17, kind, Layout::Strided));
    table.push_back(rope_case(0, 2, 30, 15, kind, Layout::Contiguous));
  }
}

}  // namespace mynah::cases
