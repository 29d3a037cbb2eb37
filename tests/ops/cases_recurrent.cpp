// Rows of the table: lstm.
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

struct LstmRow {
  std::vector<int64_t> lengths;
  int64_t in = 1;
  int64_t hidden = 1;
  DType dtype = DType::F32;
  bool reverse = false;
};

// PyTorch's initialisation: uniform within 1 / sqrt(hidden); here normal of that deviation over 2.
Tensor weight(const LstmRow& row, int64_t in_features, uint64_t seed) {
  return host_tensor({4 * row.hidden, in_features}, row.dtype == DType::I8 ? DType::F32 : row.dtype,
                     seed, 0.5F / std::sqrt(static_cast<float>(row.hidden)));
}

Step prepare(Backend& backend, const LstmRow& row) {
  const Lengths lengths{row.lengths};
  const LinearWeight w_ih = ops::pack_linear(backend, weight(row, row.in, 1), row.dtype);
  const LinearWeight w_hh = ops::pack_linear(backend, weight(row, row.hidden, 2), row.dtype);
  const Tensor x = matrix(backend, normals(lengths.total() * row.in, 3), lengths.total(), row.in);
  const Tensor bias = ops::from_host(backend, normals(4 * row.hidden, 4, 0.5F), {4 * row.hidden});
  const int64_t states = lengths.count() * row.hidden;
  const Tensor h = matrix(backend, normals(states, 5, 0.3F), lengths.count(), row.hidden);
  const Tensor c = matrix(backend, normals(states, 6, 0.5F), lengths.count(), row.hidden);
  return [=, &backend]() -> std::vector<Tensor> {
    const Tensor h_after = ops::copy(backend, h);
    const Tensor c_after = ops::copy(backend, c);
    const Tensor y = ops::lstm(backend, x, lengths, w_ih, w_hh, bias, {.reverse = row.reverse},
                               h_after, c_after);
    return {y, h_after, c_after};
  };
}

// An error e of every element of h moves a gate by about |w_hh row| * e (independent errors), the
// cell by at most that through each of three gates and the forget gate's factor below 1, and so on
// for every step; each step adds the rounding of its own products (magnitude from the weights'
// norms, |x| within 3.5) and of four transcendental functions.
std::vector<Values> bound(const LstmRow& row, const std::vector<Values>& expected) {
  RefBackend ref;
  const auto norm_of_rows = [&](int64_t in_features, uint64_t seed, float (*term)(float)) {
    const LinearWeight w = ref.pack_linear(weight(row, in_features, seed), row.dtype);
    float largest = 0.0F;
    for (int64_t i = 0; i < w.out_features; ++i) {
      float sum = 0.0F;
      for (int64_t k = 0; k < in_features; ++k) {
        sum += term(w.data.data<float>()[i * in_features + k]);
      }
      largest = std::max(largest, sum);
    }
    return largest;
  };
  const auto magnitude = [](float v) { return std::fabs(v); };
  const auto square = [](float v) { return v * v; };
  const float products =
      3.5F * norm_of_rows(row.in, 1, magnitude) + norm_of_rows(row.hidden, 2, magnitude) + 2.0F;
  const float feedback = std::sqrt(norm_of_rows(row.hidden, 2, square));
  const float gate = sum_error(row.in + row.hidden) * products + 8.0F * kEpsilon;
  float cell_peak = 1.0F;
  for (const float value : expected[2]) {
    cell_peak = std::max(cell_peak, std::fabs(value));
  }
  float h = 0.0F;
  float c = 0.0F;
  for (int64_t t = 0; t < *std::ranges::max_element(row.lengths); ++t) {
    const float gates = gate + feedback * h;
    c = c + gates * (0.25F * cell_peak + 0.25F + 1.0F) + 8.0F * kEpsilon * cell_peak;
    h = 0.25F * gates + c + 8.0F * kEpsilon;
  }
  std::vector<Values> bounds;
  bounds.reserve(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    bounds.emplace_back(expected[i].size(), i == 2 ? c : h);
  }
  return bounds;
}

OpCase lstm_case(const LstmRow& row) {
  OpCase c;
  c.op = "lstm";
  c.name = fmt::format("{} [{}] {} -> {}{}", name(row.dtype), fmt::join(row.lengths, " "), row.in,
                       row.hidden, row.reverse ? " reverse" : "");
  c.weight = row.dtype;
  c.prepare = [row](Backend& backend) { return prepare(backend, row); };
  c.bound = [row](const std::vector<Values>& expected) { return bound(row, expected); };
  return c;
}

}  // namespace

void add_recurrent_cases(std::vector<OpCase>& table) {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
    for (const bool reverse : {false, true}) {
      for (LstmRow row :
           {LstmRow{.lengths = {1}, .in = 1, .hidden = 1},
            {.lengths = {3}, .in = 7, .hidden = 8},
            {.lengths = {5, 1, 0, 8}, .in = 17, .hidden = 33},
            {.lengths = {4, 2, 4, 3, 1, 2, 4, 4, 1, 1, 2, 3, 4, 2}, .in = 16, .hidden = 31},
            {.lengths = {3, 3}, .in = 128, .hidden = 128},
            {.lengths = {2}, .in = 80, .hidden = 384}}) {
        row.dtype = dtype;
        row.reverse = reverse;
        table.push_back(lstm_case(row));
      }
    }
  }
  // A row of a K type's block.
  for (const DType dtype : weight_types()) {
    if (is_block_type(dtype)) {
      table.push_back(lstm_case({.lengths = {2, 1}, .in = 256, .hidden = 256, .dtype = dtype}));
    }
  }
  // Silero: one frame, and a batch of files.
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{1}, std::vector<int64_t>(12, 8)}) {
    OpCase c = lstm_case({.lengths = lengths, .in = 128, .hidden = 128, .dtype = DType::F32});
    const auto steps = static_cast<double>(Lengths(lengths).total());
    c.operations = steps * 2.0 * 4 * 128 * 256;
    c.bytes = 4.0 * 4 * 128 * 256;
    c.large = true;
    table.push_back(std::move(c));
  }
}

}  // namespace mynah::cases
