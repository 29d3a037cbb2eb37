// Rows of the table: matmul, conv1d, embedding.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/ref/ref_backend.h"
#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

// matmul ------------------------------------------------------------------------------------------

struct MatmulRow {
  int64_t batch;
  int64_t m;
  int64_t k;
  int64_t n;
  bool transpose_b;
};

OpCase matmul_case(const MatmulRow& row) {
  OpCase c;
  c.op = "matmul";
  c.name = fmt::format("{} x ({}, {}) ({}, {}){}", row.batch, row.m, row.k, row.k, row.n,
                       row.transpose_b ? " transposed" : "");
  const auto run = [row](Backend& backend, bool magnitude) {
    std::vector<float> a = normals(row.batch * row.m * row.k, 1);
    std::vector<float> b = normals(row.batch * row.k * row.n, 2);
    if (magnitude) {
      std::ranges::transform(a, a.begin(), [](float v) { return std::fabs(v); });
      std::ranges::transform(b, b.begin(), [](float v) { return std::fabs(v); });
    }
    const Tensor left = ops::from_host(backend, a, {row.batch, row.m, row.k});
    const Tensor right = row.transpose_b ? ops::from_host(backend, b, {row.batch, row.n, row.k})
                                         : ops::from_host(backend, b, {row.batch, row.k, row.n});
    return Step([=, &backend]() -> std::vector<Tensor> {
      return {ops::matmul(backend, left, right, row.transpose_b)};
    });
  };
  c.prepare = [run](Backend& backend) { return run(backend, false); };
  c.bound = [run, row](const std::vector<Values>&) {
    RefBackend ref;
    std::vector<Values> bounds = read(ref, run(ref, true)());
    for (float& value : bounds[0]) {
      value *= sum_error(row.k);
    }
    return bounds;
  };
  return c;
}

void add_matmul(std::vector<OpCase>& table) {
  for (const bool transpose_b : {false, true}) {
    for (const MatmulRow& row : {MatmulRow{1, 1, 1, 1, false}, MatmulRow{3, 7, 8, 15, false},
                                 MatmulRow{2, 16, 17, 31, false}, MatmulRow{1, 33, 63, 65, false},
                                 MatmulRow{6, 1, 64, 80, false}, MatmulRow{2, 65, 1, 3, false},
                                 MatmulRow{0, 4, 4, 4, false}}) {
      table.push_back(matmul_case({row.batch, row.m, row.k, row.n, transpose_b}));
    }
  }
}

// conv1d ------------------------------------------------------------------------------------------

struct Conv1dRow {
  std::vector<int64_t> lengths;
  int64_t in = 1;
  int64_t out = 1;
  Conv1dParams params;  // without tensors
  DType dtype = DType::F32;
  bool bias = true;
  bool residual = false;
  Layout layout = Layout::Contiguous;

  [[nodiscard]] int64_t rows() const {
    return ops::conv1d_lengths(Lengths(lengths), params).total();
  }
};

enum class Numbers : uint8_t { Plain, Magnitudes, Squares };

// The same convolution of the inputs, of their magnitudes or of their squares (for the bound).
Step prepare(Backend& backend, const Conv1dRow& row, Numbers numbers) {
  const auto as = [numbers](std::vector<float> values) {
    for (float& value : values) {
      value = numbers == Numbers::Plain        ? value
              : numbers == Numbers::Magnitudes ? std::fabs(value)
                                               : value * value;
    }
    return values;
  };
  const Lengths lengths{row.lengths};
  const int64_t taps = row.in / row.params.groups * row.params.kernel;
  Tensor weights = host_tensor({row.out, row.in / row.params.groups, row.params.kernel},
                               row.dtype == DType::I8 ? DType::F32 : row.dtype, 2,
                               1.0F / std::sqrt(static_cast<float>(taps)));
  LinearWeight w = ops::pack_conv1d(backend, weights, row.dtype, row.params.groups);
  if (numbers != Numbers::Plain) {  // only on ref, which keeps f32 rows
    auto* values = w.data.data<float>();
    for (int64_t i = 0; i < row.out * taps; ++i) {
      values[i] = numbers == Numbers::Magnitudes ? std::fabs(values[i]) : values[i] * values[i];
    }
  }
  const Tensor x = matrix(backend, as(normals(lengths.total() * row.in, 1)), lengths.total(),
                          row.in, row.layout);
  const Tensor bias = ops::from_host(backend, as(normals(row.out, 3)), {row.out});
  const Tensor residual =
      matrix(backend, as(normals(row.rows() * row.out, 4)), row.rows(), row.out);
  return [=, &backend]() -> std::vector<Tensor> {
    Conv1dParams params = row.params;
    params.bias = row.bias ? &bias : nullptr;
    params.residual = row.residual ? &residual : nullptr;
    if (numbers != Numbers::Plain) {
      params.activation = Activation::None;
    }
    return {ops::conv1d(backend, x, lengths, w, params)};
  };
}

std::vector<Values> bound(const Conv1dRow& row) {
  RefBackend ref;
  std::vector<Values> bounds = read(ref, prepare(ref, row, Numbers::Magnitudes)());
  const std::vector<Values> squares = read(ref, prepare(ref, row, Numbers::Squares)());
  const int64_t taps = row.in / row.params.groups * row.params.kernel;
  const auto packed =
      ref.pack_linear(host_tensor({row.out, taps}, row.dtype == DType::I8 ? DType::F32 : row.dtype,
                                  2, 1.0F / std::sqrt(static_cast<float>(taps))),
                      row.dtype);
  const auto* w = packed.data.data<float>();
  const std::vector<float> x = normals(Lengths(row.lengths).total() * row.in, 1);
  float peak = 0.0F;
  for (const float value : x) {
    peak = std::max(peak, std::fabs(value));
  }
  for (size_t i = 0; i < bounds[0].size(); ++i) {
    const int64_t channel = static_cast<int64_t>(i) % row.out;
    ProductError e{.magnitude = bounds[0][i], .squares = squares[0][i], .peak = peak};
    for (int64_t k = 0; k < taps; ++k) {
      e.weight_sum += std::fabs(w[channel * taps + k]);
      e.weight_norm += w[channel * taps + k] * w[channel * taps + k];
    }
    e.weight_norm = std::sqrt(e.weight_norm);
    bounds[0][i] = product_bound(e, taps, row.dtype, row.params.precision);
  }
  return bounds;
}

OpCase conv1d_case(const Conv1dRow& row) {
  const Conv1dParams& p = row.params;
  OpCase c;
  c.op = "conv1d";
  c.name = fmt::format(
      "{}{} [{}] {} -> {} kernel {} stride {} padding {}+{} dilation {} groups {}{}",
      name(row.dtype), p.precision == Precision::Fast ? " fast" : "", fmt::join(row.lengths, " "),
      row.in, row.out, p.kernel, p.stride, p.padding_left, p.padding_right, p.dilation, p.groups,
      row.layout == Layout::Strided ? " strided" : "");
  c.weight = row.dtype;
  c.prepare = [row](Backend& backend) { return prepare(backend, row, Numbers::Plain); };
  c.bound = [row](const std::vector<Values>&) { return bound(row); };
  return c;
}

Conv1dParams conv(int64_t kernel, int64_t stride, int64_t left, int64_t right, int64_t dilation = 1,
                  int64_t groups = 1, Activation activation = Activation::None) {
  Conv1dParams params;
  params.kernel = kernel;
  params.stride = stride;
  params.padding_left = left;
  params.padding_right = right;
  params.dilation = dilation;
  params.groups = groups;
  params.activation = activation;
  return params;
}

void add_conv1d(std::vector<OpCase>& table) {
  const std::vector<Conv1dRow> rows = {
      {.lengths = {10}, .in = 80, .out = 33, .params = conv(3, 1, 1, 1, 1, 1, Activation::Gelu)},
      {.lengths = {5, 0, 17, 1}, .in = 3, .out = 7, .params = conv(3, 2, 1, 1), .residual = true},
      {.lengths = {31}, .in = 1, .out = 8, .params = conv(5, 1, 4, 0), .bias = false},
      {.lengths = {16, 33}, .in = 15, .out = 16, .params = conv(3, 1, 2, 2, 2)},
      {.lengths = {9, 8},
       .in = 7,
       .out = 5,
       .params = conv(3, 3, 0, 0, 3),
       .layout = Layout::Strided},
      {.lengths = {65, 3}, .in = 17, .out = 17, .params = conv(7, 1, 3, 3, 1, 17)},
      {.lengths = {12, 2}, .in = 16, .out = 32, .params = conv(3, 2, 1, 0, 1, 2, Activation::Relu)},
      {.lengths = {4, 1}, .in = 8, .out = 31, .params = conv(1, 1, 0, 0)},
      {.lengths = {2, 6, 3}, .in = 4, .out = 3, .params = conv(5, 1, 0, 0)},
      {.lengths = {100},
       .in = 64,
       .out = 65,
       .params = conv(3, 2, 1, 1),
       .layout = Layout::Strided},
      {.lengths = {4, 4, 4}, .in = 17, .out = 40, .params = conv(3, 1, 1, 1)},
      {.lengths = {4, 2, 0, 1, 3},
       .in = 16,
       .out = 65,
       .params = conv(3, 2, 1, 1),
       .residual = true},
      {.lengths = {4}, .in = 5, .out = 33, .params = conv(5, 1, 4, 0)},
      {.lengths = {40, 3, 1, 25}, .in = 40, .out = 65, .params = conv(5, 1, 2, 2)},
      {.lengths = {90, 2, 60},
       .in = 64,
       .out = 33,
       .params = conv(3, 2, 3, 3, 3, 1, Activation::Gelu),
       .residual = true},
      {.lengths = {2}, .in = 3, .out = 7, .params = conv(3, 1, 6, 1), .bias = false},
      {.lengths = {}, .in = 4, .out = 3, .params = conv(3, 1, 1, 1)},
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
    for (const Precision precision : {Precision::Exact, Precision::Fast}) {
      for (Conv1dRow row : rows) {
        row.dtype = dtype;
        row.params.precision = precision;
        table.push_back(conv1d_case(row));
      }
    }
  }
}

void add_timed_conv1d(std::vector<OpCase>& table) {
  for (const auto& [dtype, precision] :
       {std::pair{DType::F32, Precision::Exact}, std::pair{DType::F16, Precision::Fast},
        std::pair{DType::I8, Precision::Fast}}) {
    table.push_back(timed_conv1d_case(80, 384, 1, dtype, precision));
    table.push_back(timed_conv1d_case(384, 384, 2, dtype, precision));
  }
}

// embedding ---------------------------------------------------------------------------------------

OpCase embedding_case(DType dtype, int64_t vocabulary, int64_t d, int64_t count) {
  OpCase c;
  c.op = "embedding";
  c.name = fmt::format("{} ({}, {}) {} ids", name(dtype), vocabulary, d, count);
  c.weight = dtype;
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor host = host_tensor({vocabulary, d}, dtype, 1);
    const Tensor table_of_rows = ops::from_host(
        backend, {host.raw(), storage_bytes(dtype, vocabulary * d)}, {vocabulary, d}, dtype);
    Random random(2);
    std::vector<int32_t> ids;
    ids.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<int32_t>(random.below(vocabulary)));
    }
    const Tensor wanted = ops::from_host(backend, ids, {count});
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::embedding(backend, table_of_rows, wanted)};
    };
  };
  // A block's value is d * scale * code - minimum: three roundings of terms of the row's size.
  c.bound = [dtype](const std::vector<Values>& expected) {
    float peak = 0.0F;
    for (const float value : expected[0]) {
      peak = std::max(peak, std::fabs(value));
    }
    const float bound = is_block_type(dtype) ? 8.0F * kEpsilon * peak : 0.0F;
    return std::vector<Values>{Values(expected[0].size(), bound)};
  };
  return c;
}

}  // namespace

OpCase timed_conv1d_case(int64_t in, int64_t out, int64_t stride, DType dtype,
                         Precision precision) {
  constexpr int64_t kFrames = 3000;
  constexpr int64_t kKernel = 3;
  Conv1dRow row{.lengths = {kFrames},
                .in = in,
                .out = out,
                .params = conv(kKernel, stride, 1, 1, 1, 1, Activation::Gelu),
                .dtype = dtype};
  row.params.precision = precision;
  OpCase c = conv1d_case(row);
  c.operations = 2.0 * static_cast<double>(row.rows() * in * kKernel * out);
  c.bytes = 4.0 * static_cast<double>(kFrames * in + row.rows() * out) +
            static_cast<double>(storage_bytes(dtype, in * kKernel * out));
  c.arithmetic = arithmetic_of(dtype, precision);
  c.large = true;
  return c;
}

void add_product_cases(std::vector<OpCase>& table) {
  add_matmul(table);
  add_conv1d(table);
  add_timed_conv1d(table);
  for (const DType dtype : weight_types()) {
    if (dtype == DType::I8) {
      continue;  // a table of plain bytes has no scales
    }
    const int64_t d = block_elements(dtype) == 1 ? 31 : 256;
    table.push_back(embedding_case(dtype, 50, d, 17));
    table.push_back(embedding_case(dtype, 3, d, 0));
  }
}

}  // namespace mynah::cases
