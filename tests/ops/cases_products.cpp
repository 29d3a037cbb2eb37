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

void add_product_cases(std::vector<OpCase>& table) {
  add_matmul(table);
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
