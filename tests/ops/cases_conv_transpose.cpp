// Rows of the table: conv_transpose1d.
#include <algorithm>
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

struct Row {
  std::vector<int64_t> lengths;
  int64_t in = 1;
  int64_t out = 1;
  ConvTranspose1dSizes sizes;
  DType dtype = DType::F32;
  Precision precision = Precision::Exact;
  Activation activation = Activation::None;
  bool bias = true;
  bool residual = false;
  Layout layout = Layout::Contiguous;  // of x and the residual

  [[nodiscard]] int64_t rows() const { return Lengths(lengths).total() * sizes.stride; }
};

enum class Numbers : uint8_t { Plain, Magnitudes, Squares };

std::vector<float> as(Numbers numbers, std::vector<float> values) {
  for (float& value : values) {
    value = numbers == Numbers::Plain        ? value
            : numbers == Numbers::Magnitudes ? std::fabs(value)
                                             : value * value;
  }
  return values;
}

// Without its bias.
ConvTranspose1dWeight weight(Backend& backend, const Row& row) {
  const int64_t terms = row.in / row.sizes.groups * row.sizes.kernel / row.sizes.stride;
  const Tensor w = host_tensor({row.in, row.out / row.sizes.groups, row.sizes.kernel},
                               row.dtype == DType::I8 ? DType::F32 : row.dtype, 2,
                               1.0F / std::sqrt(static_cast<float>(std::max(terms, int64_t{1}))));
  return ops::pack_conv_transpose1d(backend, w, nullptr, row.dtype, row.sizes);
}

// The same of the inputs, of their magnitudes or of their squares (for the bound).
Step prepare(Backend& backend, const Row& row, Numbers numbers) {
  const Lengths lengths{row.lengths};
  ConvTranspose1dWeight w = weight(backend, row);
  if (numbers != Numbers::Plain) {  // only on ref, which keeps f32 rows
    for (const ConvTranspose1dWeight::Part& part : w.parts) {
      auto* values = part.weight.data.data<float>();
      for (int64_t i = 0; i < part.weight.out_features * part.weight.in_features; ++i) {
        values[i] = numbers == Numbers::Magnitudes ? std::fabs(values[i]) : values[i] * values[i];
      }
    }
  }
  if (row.bias) {
    w.bias = ops::pack_conv_transpose1d_bias(
        backend, ops::from_host(backend, as(numbers, normals(row.out, 3)), {row.out}), row.sizes);
  }
  const Tensor x = matrix(backend, as(numbers, normals(lengths.total() * row.in, 1)),
                          lengths.total(), row.in, row.layout);
  const Tensor residual = matrix(backend, as(numbers, normals(row.rows() * row.out, 4)), row.rows(),
                                 row.out, row.layout);
  return [=, &backend]() -> std::vector<Tensor> {
    return {ops::conv_transpose1d(
        backend, x, lengths, w,
        {.residual = row.residual ? &residual : nullptr,
         .activation = numbers == Numbers::Plain ? row.activation : Activation::None,
         .precision = row.precision})};
  };
}

std::vector<Values> bound(const Row& row) {
  RefBackend ref;
  std::vector<Values> bounds = read(ref, prepare(ref, row, Numbers::Magnitudes)());
  const std::vector<Values> squares = read(ref, prepare(ref, row, Numbers::Squares)());
  float peak = 0.0F;
  for (const float value : normals(Lengths(row.lengths).total() * row.in, 1)) {
    peak = std::max(peak, std::fabs(value));
  }
  const ConvTranspose1dWeight w = weight(ref, row);
  for (const auto& [place, part] : w.parts) {
    for (int64_t column = 0; column < part.out_features; ++column) {
      ProductError e{.peak = peak};
      for (int64_t k = 0; k < part.in_features; ++k) {
        const float value = part.data.data<float>()[column * part.in_features + k];
        e.weight_sum += std::fabs(value);
        e.weight_norm += value * value;
      }
      e.weight_norm = std::sqrt(e.weight_norm);
      for (int64_t t = 0; t < Lengths(row.lengths).total(); ++t) {
        const auto i = static_cast<size_t>((t * row.sizes.stride + place.begin) * row.out + column);
        e.magnitude = bounds[0][i];
        e.squares = squares[0][i];
        bounds[0][i] = product_bound(e, part.in_features, row.dtype, row.precision);
      }
    }
  }
  return bounds;
}

OpCase conv_transpose_case(const Row& row) {
  OpCase c;
  c.op = "conv_transpose1d";
  c.name = fmt::format("{}{} [{}] {} -> {} {}{}", name(row.dtype),
                       row.precision == Precision::Fast ? " fast" : "", fmt::join(row.lengths, " "),
                       row.in, row.out, row.sizes.str(),
                       row.layout == Layout::Strided ? " strided" : "");
  c.weight = row.dtype;
  c.prepare = [row](Backend& backend) { return prepare(backend, row, Numbers::Plain); };
  c.bound = [row](const std::vector<Values>&) { return bound(row); };
  return c;
}

// Of Kokoro's generator, over `frames` frames of its input.
OpCase timed_case(int64_t frames, int64_t in, int64_t out, const ConvTranspose1dSizes& sizes,
                  DType dtype, Precision precision) {
  const Row row{.lengths = {frames},
                .in = in,
                .out = out,
                .sizes = sizes,
                .dtype = dtype,
                .precision = precision};
  OpCase c = conv_transpose_case(row);
  c.operations = 2.0 * static_cast<double>(frames * sizes.kernel * in * out);
  c.bytes = 4.0 * static_cast<double>(frames * in + row.rows() * out) +
            static_cast<double>(storage_bytes(dtype, sizes.kernel * in * out));
  c.arithmetic = arithmetic_of(dtype, precision);
  c.large = true;
  return c;
}

constexpr ConvTranspose1dSizes kKokoroFirst{.kernel = 20, .stride = 10, .padding = 5};
constexpr ConvTranspose1dSizes kKokoroSecond{.kernel = 12, .stride = 6, .padding = 3};

}  // namespace

void add_conv_transpose_cases(std::vector<OpCase>& table) {
  constexpr ConvTranspose1dSizes kHifiGanFirst{.kernel = 16, .stride = 8, .padding = 4};
  constexpr ConvTranspose1dSizes kHifiGanLast{.kernel = 4, .stride = 2, .padding = 1};
  const std::vector<Row> rows = {
      {.lengths = {5, 1, 0, 9}, .in = 40, .out = 13, .sizes = kKokoroFirst},
      {.lengths = {40, 1, 3},
       .in = 32,
       .out = 16,
       .sizes = kKokoroSecond,
       .activation = Activation::Gelu,
       .residual = true},
      {.lengths = {1, 33}, .in = 17, .out = 9, .sizes = kHifiGanFirst, .bias = false},
      {.lengths = {70, 2, 1},
       .in = 64,
       .out = 32,
       .sizes = kHifiGanLast,
       .residual = true,
       .layout = Layout::Strided},
      {.lengths = {1}, .in = 3, .out = 7, .sizes = kHifiGanLast},
      {.lengths = {20, 1, 7},
       .in = 17,
       .out = 17,
       .sizes = {.kernel = 3, .stride = 2, .padding = 1, .output_padding = 1, .groups = 17}},
      {.lengths = {12, 1},
       .in = 16,
       .out = 40,
       .sizes = {.kernel = 4, .stride = 2, .padding = 1, .groups = 2},
       .activation = Activation::Silu,
       .residual = true},
      // Three parts.
      {.lengths = {11, 4}, .in = 8, .out = 5, .sizes = {.kernel = 5, .stride = 3, .padding = 1}},
      // More taps than an utterance has rows.
      {.lengths = {2, 1, 30},
       .in = 6,
       .out = 4,
       .sizes = {.kernel = 14, .stride = 2, .padding = 6}},
      {.lengths = {6, 5}, .in = 4, .out = 33, .sizes = {.kernel = 3, .stride = 1, .padding = 1}},
      {.lengths = {4, 1}, .in = 5, .out = 3, .sizes = {.kernel = 3, .stride = 3}},
      {.lengths = {}, .in = 4, .out = 3, .sizes = kHifiGanLast},
  };
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
    for (const Precision precision : {Precision::Exact, Precision::Fast}) {
      for (Row row : rows) {
        row.dtype = dtype;
        row.precision = precision;
        table.push_back(conv_transpose_case(row));
      }
    }
  }
  for (const auto& [dtype, precision] :
       {std::pair{DType::F32, Precision::Exact}, std::pair{DType::F16, Precision::Fast},
        std::pair{DType::I8, Precision::Fast}}) {
    table.push_back(timed_case(200, 512, 256, kKokoroFirst, dtype, precision));
    table.push_back(timed_case(2000, 256, 128, kKokoroSecond, dtype, precision));
  }
}

}  // namespace mynah::cases
