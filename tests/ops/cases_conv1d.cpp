// Rows of the table: conv1d.
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

// What stands in x's place.
enum class Seen : uint8_t { X, Leaky, Snake, NormedLeaky, NormedSnake };

constexpr std::array kSeenNames = {"", " leaky", " snake", " normed leaky", " normed snake"};

constexpr float kSlope = 0.2F;

bool is_normed(Seen seen) {
  return seen == Seen::NormedLeaky || seen == Seen::NormedSnake;
}

bool is_snake(Seen seen) {
  return seen == Seen::Snake || seen == Seen::NormedSnake;
}

struct Conv1dRow {
  std::vector<int64_t> lengths;
  int64_t in = 1;
  int64_t out = 1;
  Conv1dParams params;  // without tensors
  DType dtype = DType::F32;
  bool bias = true;
  bool residual = false;
  Layout layout = Layout::Contiguous;
  Seen seen = Seen::X;

  [[nodiscard]] int64_t rows() const {
    return ops::conv1d_lengths(Lengths(lengths), params).total();
  }
};

// Numbers that a row is computed with.
struct Inputs {
  std::vector<float> x;
  std::vector<float> factors;
  std::vector<float> alphas;
};

Inputs inputs_of(const Conv1dRow& row) {
  const Lengths lengths{row.lengths};
  Inputs inputs{.x = normals(lengths.total() * row.in, 1),
                .factors = normals(lengths.count() * 2 * row.in, 5),
                .alphas = normals(row.in, 6)};
  for (float& alpha : inputs.alphas) {
    alpha = std::exp(alpha);
  }
  return inputs;
}

// What the convolution sees, and how far off a backend may be there: by an epsilon of what is added
// up, and by sin^2's own error where its argument errs by some epsilons too.
struct SeenValues {
  std::vector<float> values;
  std::vector<float> errors;
};

SeenValues seen_by(const Conv1dRow& row) {
  const Inputs inputs = inputs_of(row);
  const Lengths lengths{row.lengths};
  SeenValues seen{.values = inputs.x, .errors = std::vector<float>(inputs.x.size())};
  if (row.seen == Seen::X) {
    return seen;
  }
  for (int64_t u = 0; u < lengths.count(); ++u) {
    for (int64_t i = lengths[u].begin * row.in; i < lengths[u].end() * row.in; ++i) {
      const auto c = static_cast<size_t>(i % row.in);
      const auto at = static_cast<size_t>(i);
      double y = inputs.x[at];
      double error = 0.0;
      if (is_normed(row.seen)) {
        const float* const own = inputs.factors.data() + u * 2 * row.in;
        const double scaled = own[c] * y;
        y = scaled + own[static_cast<size_t>(row.in) + c];
        error = 1.5 * (std::fabs(scaled) + std::fabs(y));
      }
      if (is_snake(row.seen)) {
        const double alpha = inputs.alphas[c];
        const double sine = std::sin(alpha * y);
        error = 2.0 * error + 3.0 * std::fabs(y) + 5.0 * sine * sine / alpha;
        y += sine * sine / alpha;
      } else {
        error += std::fabs(y);
        y = y < 0.0 ? kSlope * y : y;
      }
      seen.values[at] = static_cast<float>(y);
      seen.errors[at] = kEpsilon * static_cast<float>(error);
    }
  }
  return seen;
}

enum class Conv1dNumbers : uint8_t { Plain, Magnitudes, Squares, Errors };

// The convolution itself; or, for the bound, that of the magnitudes of what it sees, of their
// squares, or of their errors.
Step prepare(Backend& backend, const Conv1dRow& row, Conv1dNumbers numbers) {
  const auto as = [numbers](std::vector<float> values) {
    for (float& value : values) {
      value = numbers == Conv1dNumbers::Plain        ? value
              : numbers == Conv1dNumbers::Magnitudes ? std::fabs(value)
              : numbers == Conv1dNumbers::Squares    ? value * value
                                                     : 0.0F;
    }
    return values;
  };
  const Lengths lengths{row.lengths};
  const Inputs inputs = inputs_of(row);
  const int64_t taps = row.in / row.params.groups * row.params.kernel;
  Tensor weights = host_tensor({row.out, row.in / row.params.groups, row.params.kernel},
                               row.dtype == DType::I8 ? DType::F32 : row.dtype, 2,
                               1.0F / std::sqrt(static_cast<float>(taps)));
  LinearWeight w = ops::pack_conv1d(backend, weights, row.dtype, row.params.groups);
  if (numbers != Conv1dNumbers::Plain) {  // only on ref, which keeps f32 rows
    auto* values = w.data.data<float>();
    for (int64_t i = 0; i < row.out * taps; ++i) {
      values[i] = numbers == Conv1dNumbers::Squares ? values[i] * values[i] : std::fabs(values[i]);
    }
  }
  const std::vector<float> values = numbers == Conv1dNumbers::Plain    ? inputs.x
                                    : numbers == Conv1dNumbers::Errors ? seen_by(row).errors
                                                                       : as(seen_by(row).values);
  const Tensor x = matrix(backend, values, lengths.total(), row.in, row.layout);
  const Tensor factors = matrix(backend, inputs.factors, lengths.count(), 2 * row.in, row.layout);
  const Tensor alpha = ops::from_host(backend, inputs.alphas, {row.in});
  const Tensor bias = ops::from_host(backend, as(normals(row.out, 3)), {row.out});
  const Tensor residual =
      matrix(backend, as(normals(row.rows() * row.out, 4)), row.rows(), row.out, row.layout);
  return [=, &backend]() -> std::vector<Tensor> {
    const Conv1dInput input{.factors = is_normed(row.seen) ? &factors : nullptr,
                            .alpha = is_snake(row.seen) ? &alpha : nullptr,
                            .slope = kSlope};
    Conv1dParams params = row.params;
    params.bias = row.bias ? &bias : nullptr;
    params.residual = row.residual ? &residual : nullptr;
    params.input = row.seen == Seen::X ? nullptr : &input;
    if (numbers != Conv1dNumbers::Plain) {
      params.activation = Activation::None;
      params.input = nullptr;
    }
    return {ops::conv1d(backend, x, lengths, w, params)};
  };
}

std::vector<Values> bound(const Conv1dRow& row) {
  RefBackend ref;
  std::vector<Values> bounds = read(ref, prepare(ref, row, Conv1dNumbers::Magnitudes)());
  const std::vector<Values> squares = read(ref, prepare(ref, row, Conv1dNumbers::Squares)());
  const std::vector<Values> errors = read(ref, prepare(ref, row, Conv1dNumbers::Errors)());
  const int64_t taps = row.in / row.params.groups * row.params.kernel;
  const auto packed =
      ref.pack_linear(host_tensor({row.out, taps}, row.dtype == DType::I8 ? DType::F32 : row.dtype,
                                  2, 1.0F / std::sqrt(static_cast<float>(taps))),
                      row.dtype);
  const auto* w = packed.data.data<float>();
  float peak = 0.0F;
  for (const float value : seen_by(row).values) {
    peak = std::max(peak, std::fabs(value));
  }
  constexpr float kSteepest = 1.13F;  // gelu's slope
  for (size_t i = 0; i < bounds[0].size(); ++i) {
    const int64_t channel = static_cast<int64_t>(i) % row.out;
    ProductError e{.magnitude = bounds[0][i], .squares = squares[0][i], .peak = peak};
    for (int64_t k = 0; k < taps; ++k) {
      e.weight_sum += std::fabs(w[channel * taps + k]);
      e.weight_norm += w[channel * taps + k] * w[channel * taps + k];
    }
    e.weight_norm = std::sqrt(e.weight_norm);
    bounds[0][i] =
        product_bound(e, taps, row.dtype, row.params.precision) + kSteepest * errors[0][i];
  }
  return bounds;
}

OpCase conv1d_case(const Conv1dRow& row) {
  const Conv1dParams& p = row.params;
  OpCase c;
  c.op = "conv1d";
  c.name = fmt::format(
      "{}{} [{}] {} -> {} kernel {} stride {} padding {}+{} dilation {} groups {}{}{}",
      name(row.dtype), p.precision == Precision::Fast ? " fast" : "", fmt::join(row.lengths, " "),
      row.in, row.out, p.kernel, p.stride, p.padding_left, p.padding_right, p.dilation, p.groups,
      row.layout == Layout::Strided ? " strided" : "", kSeenNames[static_cast<size_t>(row.seen)]);
  c.weight = row.dtype;
  c.prepare = [row](Backend& backend) { return prepare(backend, row, Conv1dNumbers::Plain); };
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
      {.lengths = {40, 0, 3},
       .in = 65,
       .out = 65,
       .params = conv(7, 2, 6, 3, 2, 65, Activation::Gelu),
       .residual = true,
       .layout = Layout::Strided},
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
      {.lengths = {9, 0, 1, 30},
       .in = 17,
       .out = 33,
       .params = conv(3, 1, 1, 1),
       .residual = true,
       .seen = Seen::NormedSnake},
      {.lengths = {250, 3},
       .in = 16,
       .out = 40,
       .params = conv(11, 1, 25, 25, 5),
       .seen = Seen::NormedSnake},
      {.lengths = {1, 120, 97},
       .in = 6,
       .out = 32,
       .params = conv(7, 1, 9, 9, 3, 1, Activation::Gelu),
       .residual = true,
       .layout = Layout::Strided,
       .seen = Seen::NormedLeaky},
      {.lengths = {40}, .in = 32, .out = 22, .params = conv(7, 1, 3, 3), .seen = Seen::Leaky},
      {.lengths = {33, 2}, .in = 15, .out = 7, .params = conv(5, 1, 0, 3, 2), .seen = Seen::Snake},
      {.lengths = {21}, .in = 22, .out = 9, .params = conv(12, 6, 3, 3), .seen = Seen::NormedLeaky},
      {.lengths = {18, 4},
       .in = 8,
       .out = 8,
       .params = conv(2, 1, 1, 0, 1, 8),
       .seen = Seen::NormedLeaky},
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

// Of Kokoro's generator: a convolution of a block, behind its norm and snake, over two seconds.
OpCase timed_block_case(int64_t rows, int64_t channels, int64_t kernel, int64_t dilation,
                        DType dtype, Precision precision) {
  const int64_t padding = (kernel - 1) * dilation / 2;
  Conv1dRow row{.lengths = {rows},
                .in = channels,
                .out = channels,
                .params = conv(kernel, 1, padding, padding, dilation),
                .dtype = dtype,
                .residual = true,
                .seen = Seen::NormedSnake};
  row.params.precision = precision;
  OpCase c = conv1d_case(row);
  c.operations = 2.0 * static_cast<double>(rows * channels * kernel * channels);
  c.bytes = 12.0 * static_cast<double>(rows * channels) +
            static_cast<double>(storage_bytes(dtype, channels * kernel * channels));
  c.arithmetic = arithmetic_of(dtype, precision);
  c.large = true;
  return c;
}

void add_timed_conv1d(std::vector<OpCase>& table) {
  for (const auto& [dtype, precision] :
       {std::pair{DType::F32, Precision::Exact}, std::pair{DType::F16, Precision::Fast},
        std::pair{DType::I8, Precision::Fast}}) {
    table.push_back(timed_conv1d_case(80, 384, 1, dtype, precision));
    table.push_back(timed_conv1d_case(384, 384, 2, dtype, precision));
  }
  for (const auto& [dtype, precision] :
       {std::pair{DType::F32, Precision::Exact}, std::pair{DType::BF16, Precision::Fast},
        std::pair{DType::I8, Precision::Fast}}) {
    for (const int64_t kernel : {3, 7, 11}) {
      table.push_back(timed_block_case(1600, 256, kernel, 5, dtype, precision));
      table.push_back(timed_block_case(9600, 128, kernel, 1, dtype, precision));
    }
  }
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

void add_conv1d_cases(std::vector<OpCase>& table) {
  add_conv1d(table);
  add_timed_conv1d(table);
}

}  // namespace mynah::cases
