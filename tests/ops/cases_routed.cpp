// Rows of the table: products of rows with the matrices of the experts that they were sent to.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backend/ref/ref_backend.h"
#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

struct RoutedRow {
  int64_t rows = 1;
  int64_t k = 1;
  int64_t experts = 1;
  int64_t in = 1;
  int64_t out = 1;
  bool own_rows = false;  // x has a row for each route
  DType dtype = DType::F32;
  Precision precision = Precision::Exact;
  bool bias = true;
  Layout layout = Layout::Contiguous;

  [[nodiscard]] int64_t x_rows() const { return own_rows ? rows * k : rows; }
};

// Different experts for each row's routes; some experts get many rows and some none.
std::vector<int32_t> routes_of(const RoutedRow& row) {
  Random random(5);
  std::vector<int32_t> routes;
  for (int64_t i = 0; i < row.rows; ++i) {
    const int64_t first = random.below(row.experts);
    const int64_t second = random.below(row.experts);
    for (int64_t j = 0; j < row.k; ++j) {
      routes.push_back(static_cast<int32_t>((std::min(first, second) + j) % row.experts));
    }
  }
  return routes;
}

// The matrix of an expert; I8 is packed from f32.
Tensor matrix_of(const RoutedRow& row, int64_t expert) {
  return host_tensor({row.out, row.in}, row.dtype == DType::I8 ? DType::F32 : row.dtype,
                     static_cast<uint64_t>(10 + expert),
                     1.0F / std::sqrt(static_cast<float>(row.in)));
}

Step prepare(Backend& backend, const RoutedRow& row) {
  const Tensor x =
      matrix(backend, normals(row.x_rows() * row.in, 1), row.x_rows(), row.in, row.layout);
  const Tensor routes =
      ops::from_host(backend, std::span<const int32_t>(routes_of(row)), {row.rows, row.k});
  const ExpertWeights w = ops::pack_experts(
      backend, row.experts, [&](int64_t expert) { return matrix_of(row, expert); }, row.dtype);
  const Tensor bias =
      ops::from_host(backend, normals(row.experts * row.out, 3), {row.experts, row.out});
  return [=, &backend]() -> std::vector<Tensor> {
    return {ops::routed_linear(backend, x, routes, w,
                               {.bias = row.bias ? &bias : nullptr, .precision = row.precision})};
  };
}

std::vector<Values> bound(const RoutedRow& row) {
  const std::vector<float> x = normals(row.x_rows() * row.in, 1);
  const std::vector<float> bias = normals(row.experts * row.out, 3);
  const std::vector<int32_t> routes = routes_of(row);
  RefBackend ref;
  const ExpertWeights w = ops::pack_experts(
      ref, row.experts, [&](int64_t expert) { return matrix_of(row, expert); }, row.dtype);
  Values bounds;
  for (int64_t i = 0; i < row.rows * row.k; ++i) {
    const int64_t expert = routes[static_cast<size_t>(i)];
    const float* from = x.data() + (row.own_rows ? i : i / row.k) * row.in;
    const LinearWeight own = w.of(expert);
    for (int64_t j = 0; j < row.out; ++j) {
      ProductError e =
          product_error({from, static_cast<size_t>(row.in)}, own.data.data<float>() + j * row.in);
      e.magnitude += row.bias ? std::fabs(bias[static_cast<size_t>(expert * row.out + j)]) : 0.0F;
      bounds.push_back(product_bound(e, row.in, row.dtype, row.precision));
    }
  }
  return {bounds};
}

OpCase routed_case(const RoutedRow& row) {
  OpCase c;
  c.op = "routed_linear";
  c.name = fmt::format("{}{} ({}, {}) to {} of {} -> {}{}{}{}", name(row.dtype),
                       row.precision == Precision::Fast ? " fast" : "", row.rows, row.in, row.k,
                       row.experts, row.out, row.own_rows ? " own rows" : "",
                       row.bias ? " bias" : "", row.layout == Layout::Strided ? " strided" : "");
  c.weight = row.dtype;
  c.prepare = [row](Backend& backend) { return prepare(backend, row); };
  c.bound = [row](const std::vector<Values>&) { return bound(row); };
  return c;
}

// Steps and prompts of gpt-oss 20b and Qwen3 30B A3B, with fewer experts than they have.
void add_timed_routed(std::vector<OpCase>& table) {
  const auto timed = [&](RoutedRow row) {
    row.precision = Precision::Fast;
    OpCase c = routed_case(row);
    const auto products = static_cast<double>(row.rows * row.k * row.in * row.out);
    const int64_t touched = std::min(row.rows * row.k, row.experts);
    c.operations = 2.0 * products;
    c.bytes = static_cast<double>(storage_bytes(row.dtype, touched * row.in * row.out)) +
              4.0 * static_cast<double>(row.x_rows() * row.in + row.rows * row.k * row.out);
    c.arithmetic = arithmetic_of(row.dtype, row.precision);
    c.large = true;
    table.push_back(std::move(c));
  };
  for (const int64_t rows : {1, 512}) {
    timed({.rows = rows, .k = 2, .experts = 8, .in = 2880, .out = 5760, .dtype = DType::MXFP4});
    timed({.rows = rows,
           .k = 8,
           .experts = 32,
           .in = 2048,
           .out = 1536,
           .dtype = DType::Q4_K,
           .bias = false});
  }
}

}  // namespace

void add_routed_cases(std::vector<OpCase>& table) {
  for (const DType dtype : weight_types()) {
    const bool blocks = is_block_type(dtype);
    const int64_t in = blocks ? 256 : 33;
    for (const Precision precision : {Precision::Exact, Precision::Fast}) {
      const auto add = [&](RoutedRow row) {
        row.dtype = dtype;
        row.precision = precision;
        table.push_back(routed_case(row));
      };
      add({.rows = 1, .k = 2, .experts = 5, .in = in, .out = 33});
      add({.rows = 23, .k = 3, .experts = 4, .in = in, .out = 31, .bias = false});
      add({.rows = 9,
           .k = 2,
           .experts = 3,
           .in = 2 * in,
           .out = 8,
           .own_rows = true,
           .layout = Layout::Strided});
    }
  }
  table.push_back(routed_case({.rows = 0, .k = 2, .experts = 3, .in = 7, .out = 5}));
  table.push_back(routed_case({.rows = 130, .k = 1, .experts = 1, .in = 65, .out = 64}));
  add_timed_routed(table);
}

}  // namespace mynah::cases
