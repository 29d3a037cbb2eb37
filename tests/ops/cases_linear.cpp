// Rows of the table: linear, for every storage type.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "backend/ref/ref_backend.h"
#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

struct LinearRow {
  int64_t rows = 1;
  int64_t in = 1;
  int64_t out = 1;
  DType dtype = DType::F32;
  Precision precision = Precision::Exact;
  Activation activation = Activation::None;
  bool bias = true;
  bool residual = false;
  Layout layout = Layout::Contiguous;
  bool rectified = false;  // x is what a ReLU leaves: half of it zeros
};

struct LinearInputs {
  explicit LinearInputs(const LinearRow& row)
      : x(normals(row.rows * row.in, 1)),
        // I8 and I16 are packed from f32; block types are kept as a file has them.
        w(host_tensor({row.out, row.in},
                      row.dtype == DType::I8 || row.dtype == DType::I16 ? DType::F32 : row.dtype, 2,
                      1.0F / std::sqrt(static_cast<float>(row.in)))),
        bias(normals(row.out, 3)),
        residual(normals(row.residual ? row.rows * row.out : 0, 4)) {
    for (float& value : x) {
      value = row.rectified ? std::max(value, 0.0F) : value;
    }
  }

  std::vector<float> x;
  Tensor w;
  std::vector<float> bias;
  std::vector<float> residual;
};

Step prepare(Backend& backend, const LinearRow& row) {
  const LinearInputs inputs(row);
  const Tensor x = matrix(backend, inputs.x, row.rows, row.in, row.layout);
  const LinearWeight w = ops::pack_linear(backend, inputs.w, row.dtype);
  const Tensor bias = ops::from_host(backend, inputs.bias, {row.out});
  const Tensor residual =
      row.residual ? matrix(backend, inputs.residual, row.rows, row.out, row.layout) : Tensor();
  return [=, &backend]() -> std::vector<Tensor> {
    return {ops::linear(backend, x, w,
                        {.bias = row.bias ? &bias : nullptr,
                         .residual = row.residual ? &residual : nullptr,
                         .activation = row.activation,
                         .precision = row.precision})};
  };
}

std::vector<Values> bound(const LinearRow& row) {
  const LinearInputs inputs(row);
  RefBackend ref;
  // ref keeps the numbers that the storage type holds as f32 rows.
  const LinearWeight packed = ref.pack_linear(inputs.w, row.dtype);
  const auto* w = packed.data.data<float>();
  Values bounds;
  for (int64_t i = 0; i < row.rows; ++i) {
    const float* x = inputs.x.data() + i * row.in;
    for (int64_t j = 0; j < row.out; ++j) {
      ProductError e = product_error({x, static_cast<size_t>(row.in)}, w + j * row.in);
      e.magnitude += row.bias ? std::fabs(inputs.bias[static_cast<size_t>(j)]) : 0.0F;
      e.magnitude +=
          row.residual ? std::fabs(inputs.residual[static_cast<size_t>(i * row.out + j)]) : 0.0F;
      bounds.push_back(product_bound(e, row.in, row.dtype, row.precision));
    }
  }
  return {bounds};
}

std::string_view how(Precision precision) {
  return precision == Precision::Exact ? "" : precision == Precision::Close ? " close" : " fast";
}

OpCase linear_case(const LinearRow& row) {
  static constexpr std::array kActivations = {"",      " relu",    " gelu", " gelu_tanh",
                                              " silu", " sigmoid", " tanh"};
  OpCase c;
  c.op = "linear";
  c.name = fmt::format(
      "{}{} ({}, {}) -> {}{}{}{}{}{}", name(row.dtype), how(row.precision), row.rows, row.in,
      row.out, row.bias ? " bias" : "", kActivations[static_cast<size_t>(row.activation)],
      row.residual ? " residual" : "", row.layout == Layout::Strided ? " strided" : "",
      row.rectified ? " rectified" : "");
  c.weight = row.dtype;
  c.prepare = [row](Backend& backend) { return prepare(backend, row); };
  c.bound = [row](const std::vector<Values>&) { return bound(row); };
  return c;
}

struct Sizes {
  int64_t rows;
  int64_t in;
  int64_t out;
};

// Sizes around the widths of vectors (4, 8, 16 floats), of panels (32) and of tiles (96 rows; on
// cards 64 by 64).
constexpr std::array kPlainSizes = {
    Sizes{1, 1, 1},     Sizes{1, 3, 7},    Sizes{3, 7, 8},    Sizes{7, 8, 15},   Sizes{8, 15, 16},
    Sizes{15, 16, 3},   Sizes{16, 17, 31}, Sizes{17, 31, 33}, Sizes{31, 33, 63}, Sizes{33, 63, 64},
    Sizes{63, 64, 1},   Sizes{65, 80, 17}, Sizes{1, 384, 65}, Sizes{5, 384, 80}, Sizes{97, 384, 33},
    Sizes{2, 80, 32},   Sizes{1, 65, 384}, Sizes{1500, 3, 7}, Sizes{3, 1500, 9}, Sizes{12, 128, 96},
    Sizes{129, 160, 70}};

constexpr std::array kBlockSizes = {Sizes{1, 256, 1},  Sizes{1, 512, 65}, Sizes{3, 256, 33},
                                    Sizes{8, 256, 32}, Sizes{17, 768, 7}, Sizes{97, 256, 31}};

void add_sizes(std::vector<OpCase>& table, DType dtype, Precision precision,
               std::span<const Sizes> sizes) {
  int n = 0;
  for (const Sizes& s : sizes) {
    // Every activation, bias, residual and layout comes with some size of every type.
    const int turn = n + static_cast<int>(dtype);
    table.push_back(linear_case({.rows = s.rows,
                                 .in = s.in,
                                 .out = s.out,
                                 .dtype = dtype,
                                 .precision = precision,
                                 .activation = static_cast<Activation>(turn % 7),
                                 .bias = turn % 3 != 0,
                                 .residual = turn % 2 == 0,
                                 .layout = n % 4 == 1 ? Layout::Strided : Layout::Contiguous}));
    ++n;
  }
}

// The products of Whisper tiny and base: one window's encoder, one decoder step, its vocabulary.
constexpr std::array kTimedSizes = {
    Sizes{1500, 384, 384}, Sizes{1500, 384, 1536}, Sizes{1500, 1536, 384}, Sizes{1500, 512, 2048},
    Sizes{1, 384, 384},    Sizes{1, 384, 1536},    Sizes{8, 384, 1536},    Sizes{1, 384, 51864},
    Sizes{1, 512, 51864},  Sizes{24, 384, 51864}};

// Those of language models, SmolLM2 135M and Qwen2.5 0.5B: one sequence, eight, and a prompt.
constexpr std::array kLanguageSizes = {
    Sizes{1, 576, 3072}, Sizes{8, 576, 3072},   Sizes{512, 576, 3072}, Sizes{1, 1536, 576},
    Sizes{8, 1536, 576}, Sizes{512, 1536, 576}, Sizes{1, 576, 49152},  Sizes{8, 576, 49152},
    Sizes{1, 896, 9728}, Sizes{8, 896, 9728},   Sizes{512, 896, 9728}, Sizes{1, 4864, 896},
    Sizes{8, 4864, 896}, Sizes{512, 4864, 896}, Sizes{1, 896, 151936}};

void add_timed(std::vector<OpCase>& table, DType dtype, Precision precision,
               std::span<const Sizes> sizes) {
  for (const Sizes& s : sizes) {
    if (s.in % block_elements(dtype) != 0) {
      continue;
    }
    table.push_back(timed_linear_case(s.rows, s.in, s.out, dtype, precision));
  }
}

}  // namespace

OpCase timed_linear_case(int64_t rows, int64_t in, int64_t out, DType dtype, Precision precision) {
  OpCase c =
      linear_case({.rows = rows, .in = in, .out = out, .dtype = dtype, .precision = precision});
  c.operations = 2.0 * static_cast<double>(rows * in * out);
  c.bytes = static_cast<double>(storage_bytes(dtype, in * out)) +
            4.0 * static_cast<double>(rows * (in + out));
  c.arithmetic = arithmetic_of(dtype, precision);
  c.large = true;
  return c;
}

void add_linear_cases(std::vector<OpCase>& table) {
  for (const DType dtype : weight_types()) {
    const std::span<const Sizes> sizes = is_block_type(dtype) ? std::span<const Sizes>(kBlockSizes)
                                                              : std::span<const Sizes>(kPlainSizes);
    for (const Precision precision : {Precision::Exact, Precision::Fast}) {
      add_sizes(table, dtype, precision, sizes);
    }
  }
  add_sizes(table, DType::I8, Precision::Close, kPlainSizes);
  for (const Precision precision : {Precision::Exact, Precision::Fast}) {
    add_sizes(table, DType::I16, precision, kPlainSizes);
    add_sizes(table, DType::I16, precision, std::array{Sizes{14, 385, 33}, Sizes{2, 1151, 32}});
  }
  for (const Sizes& s :
       {Sizes{1, 129, 65}, Sizes{2, 128, 512}, Sizes{1, 640, 300}, Sizes{13, 33, 7}}) {
    table.push_back(linear_case({.rows = s.rows, .in = s.in, .out = s.out, .rectified = true}));
  }
  add_timed(table, DType::F32, Precision::Exact, kTimedSizes);
  add_timed(table, DType::F16, Precision::Exact, kTimedSizes);
  for (const DType dtype : {DType::BF16, DType::I8, DType::Q8_0, DType::Q4_0, DType::Q4_K}) {
    add_timed(table, dtype, Precision::Fast, kTimedSizes);
  }
  for (const DType dtype : {DType::BF16, DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q8_0,
                            DType::Q4_K, DType::Q5_K, DType::Q6_K, DType::MXFP4}) {
    add_timed(table, dtype, Precision::Fast, kLanguageSizes);
  }
}

}  // namespace mynah::cases
