// Rows of the table: moving rows, casts, and along the last dimension.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

constexpr std::array<int64_t, 15> kWidths = {1,  3,  7,  8,  15, 16,  17,  31,
                                             33, 63, 64, 65, 80, 384, 1500};
constexpr std::array kFloats = {DType::F32, DType::F16, DType::BF16};

// Different numbers below n, in no order.
std::vector<int32_t> some_rows(int64_t n, int64_t count) {
  std::vector<int32_t> rows;
  rows.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(static_cast<int32_t>((i * 7 + 3) % n));  // n is not a multiple of 7
  }
  return rows;
}

// Whole numbers of any type on the backend: (rows, d), each byte of its own.
Tensor numbered(Backend& backend, DType dtype, int64_t rows, int64_t d) {
  std::vector<std::byte> bytes(storage_bytes(dtype, rows * d));
  const size_t width = bytes.size() / static_cast<size_t>(rows * d);
  for (size_t i = 0; i < bytes.size(); ++i) {
    // The upper half of wide numbers is zero: they are compared as f32.
    bytes[i] = i % width < 2 ? static_cast<std::byte>(i * 37 % 251) : std::byte{0};
  }
  return ops::from_host(backend, bytes, {rows, d}, dtype);
}

// Columns of a wider matrix of whole numbers, laid side by side.
OpCase copy_numbers_case(DType dtype, int64_t d) {
  constexpr int64_t kRows = 5;
  OpCase c;
  c.op = "copy";
  c.name = fmt::format("{} ({}, {}) of {}", name(dtype), kRows, d, 2 * d + 1);
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = numbered(backend, dtype, kRows, 2 * d + 1).narrow(1, 1, d);
    return [=, &backend]() -> std::vector<Tensor> {
      const Tensor out = ops::empty(backend, {kRows, d}, dtype);
      ops::copy_into(backend, x, out);
      return {out};
    };
  };
  c.bound = exact();
  return c;
}

// Some rows of some matrices: (2, 3, d) of (2, 5, apart), whose rows may stand side by side.
OpCase copy_narrow_case(int64_t d, int64_t apart) {
  constexpr int64_t kMatrices = 2;
  constexpr int64_t kRows = 5;
  constexpr int64_t kCopied = 3;
  OpCase c;
  c.op = "copy";
  c.name = fmt::format("f32 ({}, {}, {}) of ({}, {}, {})", kMatrices, kCopied, d, kMatrices, kRows,
                       apart);
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor whole =
        ops::from_host(backend, normals(kMatrices * kRows * apart, 1), {kMatrices, kRows, apart});
    const Tensor x = whole.narrow(1, 1, kCopied).narrow(2, 0, d);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::copy(backend, x)}; };
  };
  c.bound = exact();
  return c;
}

OpCase gather_case(DType dtype, int64_t d, int64_t count, Layout layout) {
  constexpr int64_t kRows = 11;
  OpCase c;
  c.op = "gather_rows";
  c.name = fmt::format("{} ({}, {}) {} rows{}", name(dtype), kRows, d, count,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    Tensor x = matrix(backend, normals(kRows * d, 1), kRows, d, layout);
    if (dtype == DType::I32 || dtype == DType::U8) {
      x = numbered(backend, dtype, kRows, d);
    } else if (dtype != DType::F32) {
      x = ops::cast(backend, x, dtype);
    }
    const Tensor rows = ops::from_host(backend, some_rows(kRows, count), {count});
    return [=, &backend]() -> std::vector<Tensor> { return {ops::gather_rows(backend, x, rows)}; };
  };
  c.bound = exact();
  return c;
}

OpCase scatter_case(DType dtype, int64_t d, Layout layout) {
  constexpr int64_t kRows = 11;
  constexpr int64_t kCount = 4;
  OpCase c;
  c.op = "scatter_rows";
  c.name = fmt::format("{} {} rows of {}{}", name(dtype), kCount, d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor before = ops::from_host(backend, normals(kRows * d, 1), {kRows, d});
    const Tensor x = matrix(backend, normals(kCount * d, 2), kCount, d, layout);
    const Tensor rows = ops::from_host(backend, some_rows(kRows, kCount), {kCount});
    return [=, &backend]() -> std::vector<Tensor> {
      if (is_block_type(dtype)) {
        const Tensor cache = blocks(backend, normals(kRows * d, 1), {kRows, d}, dtype);
        ops::scatter_rows(backend, x, rows, cache);
        return {ops::dequantize(backend, cache)};
      }
      const Tensor cache = ops::cast(backend, before, dtype);
      ops::scatter_rows(backend, x, rows, cache);
      return {cache};
    };
  };
  c.bound = exact();
  return c;
}

OpCase cast_case(DType from, DType to, int64_t d, Layout layout) {
  OpCase c;
  c.op = "copy";
  c.name = fmt::format("{} to {} (3, {}){}", name(from), name(to), d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    std::vector<float> values = normals(3 * d, 1);
    // Beyond half precision's largest number, below its smallest, and at its ties.
    constexpr std::array kEdges = {70000.0F, -1e-9F, 1.0F + 0x1p-11F, INFINITY, NAN, -0.0F};
    for (size_t i = 0; i < std::min(kEdges.size(), values.size()); ++i) {
      values[values.size() - 1 - i] = kEdges[i];
    }
    const Tensor x = matrix(backend, values, 3, d, layout);
    const Tensor source = from == DType::F32 ? x : ops::cast(backend, x, from);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::cast(backend, source, to)}; };
  };
  c.bound = exact();
  return c;
}

OpCase transpose_case(int64_t m, int64_t n, Layout layout) {
  OpCase c;
  c.op = "transpose";
  c.name = fmt::format("({}, {}){}", m, n, layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(m * n, 1), m, n, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::transpose(backend, x)}; };
  };
  c.bound = exact();
  c.operations = static_cast<double>(m * n);
  c.bytes = 8.0 * static_cast<double>(m * n);
  return c;
}

// Magnitudes summed from the first element to each, or to the last.
std::vector<float> running_magnitudes(std::span<const float> x, int64_t d) {
  std::vector<float> sums;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool first = static_cast<int64_t>(i) % d == 0;
    sums.push_back(std::fabs(x[i]) + (first ? 0.0F : sums.back()));
  }
  return sums;
}

OpCase reduce_case(Reduction op, const char* op_name, int64_t d, Layout layout) {
  constexpr int64_t kRows = 3;
  OpCase c;
  c.op = "reduce";
  c.name = fmt::format("{} of {}{}", op_name, d, layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(kRows * d, 1), kRows, d, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::reduce(backend, op, x)}; };
  };
  c.bound = [=](const std::vector<Values>&) {
    const std::vector<float> sums = running_magnitudes(normals(kRows * d, 1), d);
    Values bounds;
    for (int64_t i = 0; i < kRows; ++i) {
      const float sum = sums[static_cast<size_t>((i + 1) * d - 1)];
      const float mean = op == Reduction::Mean ? 1.0F / static_cast<float>(d) : 1.0F;
      bounds.push_back(op == Reduction::Max ? 0.0F : sum_error(d) * sum * mean);
    }
    return std::vector<Values>{bounds};
  };
  return c;
}

OpCase cumsum_case(int64_t d, Layout layout) {
  OpCase c;
  c.op = "cumsum";
  c.name = fmt::format("of {}{}", d, layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(2 * d, 1), 2, d, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::cumsum(backend, x)}; };
  };
  c.bound = [=](const std::vector<Values>&) {
    Values bounds = running_magnitudes(normals(2 * d, 1), d);
    for (float& value : bounds) {
      value *= sum_error(d);
    }
    return std::vector<Values>{bounds};
  };
  return c;
}

// Few different numbers, so that the largest comes several times.
OpCase argmax_case(int64_t d, Layout layout) {
  OpCase c;
  c.op = "argmax";
  c.name = fmt::format("of {}{}", d, layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    std::vector<float> values = normals(6 * d, 1);
    for (float& value : values) {
      value = std::round(value);
    }
    std::fill(values.end() - d, values.end(), -INFINITY);
    const Tensor x = matrix(backend, values, 6, d, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::argmax(backend, x)}; };
  };
  c.bound = exact();
  return c;
}

OpCase median_case(int64_t d, int64_t width, Layout layout) {
  OpCase c;
  c.op = "median_filter";
  c.name = fmt::format("{} of {}{}", width, d, layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(3 * d, 1), 3, d, layout);
    return
        [=, &backend]() -> std::vector<Tensor> { return {ops::median_filter(backend, x, width)}; };
  };
  c.bound = exact();
  return c;
}

}  // namespace

void add_row_cases(std::vector<OpCase>& table) {
  for (const int64_t d : {32, 64, 384}) {
    table.push_back(scatter_case(DType::Q8_0, d, Layout::Contiguous));
    table.push_back(scatter_case(DType::Q8_0, d, Layout::Strided));
  }
  for (const int64_t d : kWidths) {
    const Layout layout = d % 2 == 0 ? Layout::Contiguous : Layout::Strided;
    table.push_back(argmax_case(d, layout));
    table.push_back(cumsum_case(d, layout));
    table.push_back(reduce_case(Reduction::Sum, "sum", d, layout));
    table.push_back(reduce_case(Reduction::Mean, "mean", d, layout));
    table.push_back(reduce_case(Reduction::Max, "max", d, layout));
    for (const DType dtype : kFloats) {
      table.push_back(scatter_case(dtype, d, layout));
      table.push_back(gather_case(dtype, d, 5, layout));
      for (const DType to : kFloats) {
        table.push_back(cast_case(dtype, to, d, layout));
      }
    }
    table.push_back(gather_case(DType::I32, d, 5, Layout::Contiguous));
    table.push_back(gather_case(DType::U8, d, 5, Layout::Contiguous));
    for (const DType dtype : {DType::U8, DType::I32, DType::I64}) {
      table.push_back(copy_numbers_case(dtype, d));
    }
    table.push_back(transpose_case(d, 17, layout));
    table.push_back(transpose_case(5, d, layout));
  }
  // Runs of 16 bytes in rows that stand side by side, and apart; rows that are not apart by such
  // runs, and that do not end with one.
  for (const auto& [d, apart] :
       {std::pair{8, 8}, std::pair{8, 12}, std::pair{8, 13}, std::pair{6, 8}, std::pair{1, 4}}) {
    table.push_back(copy_narrow_case(d, apart));
  }
  table.push_back(gather_case(DType::F32, 8, 0, Layout::Contiguous));
  for (const int64_t width : {1, 3, 5, 7, 13}) {
    for (const int64_t d : {1, 3, 4, 17, 64, 150}) {
      table.push_back(median_case(d, width, d % 2 == 0 ? Layout::Contiguous : Layout::Strided));
    }
  }
  OpCase encoder = transpose_case(1500, 384, Layout::Contiguous);
  encoder.large = true;
  table.push_back(std::move(encoder));
}

}  // namespace mynah::cases
