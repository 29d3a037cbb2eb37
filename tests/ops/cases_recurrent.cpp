// Rows of the table: lstm, short_conv, delta_rule.
#include <algorithm>
#include <cmath>
#include <functional>

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

// The states before a step, each time anew; a step that is timed goes on with what is there.
struct States {
  States(Backend& backend, std::vector<float> before, int64_t slots, int64_t columns, Layout layout,
         bool timed)
      : make([=, &backend, before = std::move(before)] {
          return matrix(backend, before, slots, columns, layout);
        }) {
    if (timed) {
      make = [kept = make()] { return kept; };
    }
  }

  std::function<Tensor()> make;
};

// A row of states for each utterance, and two that are nobody's: the last utterance has the first.
Tensor slots_of(Backend& backend, int64_t utterances) {
  std::vector<int32_t> slots;
  slots.reserve(static_cast<size_t>(utterances));
  for (int64_t u = 0; u < utterances; ++u) {
    slots.push_back(static_cast<int32_t>(utterances - 1 - u + (u == 0 ? 1 : 0)));
  }
  return ops::from_host(backend, std::span<const int32_t>(slots), {utterances});
}

struct ShortConvRow {
  std::vector<int64_t> lengths;
  int64_t d = 1;
  int64_t taps = 3;
  Activation activation = Activation::None;
  Layout layout = Layout::Contiguous;
  bool timed = false;
};

OpCase short_conv_case(const ShortConvRow& row) {
  OpCase c;
  c.op = "short_conv";
  c.name = fmt::format("[{}] {} of {} taps{}{}", fmt::join(row.lengths, " "), row.d, row.taps,
                       row.activation == Activation::Silu ? " silu" : "",
                       row.layout == Layout::Strided ? " strided" : "");
  c.prepare = [row](Backend& backend) -> Step {
    const Lengths lengths{row.lengths};
    const Tensor x =
        matrix(backend, normals(lengths.total() * row.d, 1), lengths.total(), row.d, row.layout);
    const Tensor w = matrix(backend, normals(row.taps * row.d, 2, 0.5F), row.taps, row.d);
    const int64_t columns = (row.taps - 1) * row.d;
    const int64_t slots = lengths.count() + 2;
    const States before(backend, normals(slots * columns, 3), slots, columns, row.layout,
                        row.timed);
    const Tensor at = slots_of(backend, lengths.count());
    return [=, &backend]() -> std::vector<Tensor> {
      const Tensor states = before.make();
      const Tensor y = ops::short_conv(backend, x, lengths, w, row.activation, at, states);
      return row.timed ? std::vector{y} : std::vector{y, ops::copy(backend, states)};
    };
  };
  // A sum of so many products of |x| and |w| within 3.5 and 1.75, and the activation's own error.
  c.bound = [row](const std::vector<Values>& expected) {
    const float products = 3.5F * 1.75F * static_cast<float>(row.taps);
    const float sums = sum_error(row.taps) * products;
    const bool none = row.activation == Activation::None;
    std::vector<Values> bounds = {Values(expected[0].size(), none ? sums : 1.13F * sums),
                                  Values(expected[1].size(), 0.0F)};
    for (size_t i = 0; i < expected[0].size() && !none; ++i) {
      bounds[0][i] += kEpsilon * (4.0F * products + 2.0F * std::fabs(expected[0][i]));
    }
    return bounds;
  };
  return c;
}

struct DeltaRow {
  std::vector<int64_t> lengths;
  int64_t heads = 1;
  int64_t key_heads = 1;
  int64_t dk = 1;
  int64_t dv = 1;
  Layout layout = Layout::Contiguous;
  bool timed = false;
};

// Keys and queries of length 1 at most, as models have them; gates below 0, betas in (0, 1).
OpCase delta_case(const DeltaRow& row) {
  OpCase c;
  c.op = "delta_rule";
  c.name = fmt::format("[{}] {} heads ({} of keys) of {} by {}{}", fmt::join(row.lengths, " "),
                       row.heads, row.key_heads, row.dk, row.dv,
                       row.layout == Layout::Strided ? " strided" : "");
  c.prepare = [row](Backend& backend) -> Step {
    const Lengths lengths{row.lengths};
    const int64_t rows = lengths.total();
    const float unit = 0.5F / std::sqrt(static_cast<float>(row.dk));
    const auto numbers = [&](int64_t columns, uint64_t seed, float scale) {
      return matrix(backend, normals(rows * columns, seed, scale), rows, columns, row.layout);
    };
    const Tensor q = numbers(row.key_heads * row.dk, 1, unit);
    const Tensor k = numbers(row.key_heads * row.dk, 2, unit);
    const Tensor v = numbers(row.heads * row.dv, 3, 1.0F);
    const Tensor gates = ops::negate(backend, ops::softplus(backend, numbers(row.heads, 4, 1.0F)));
    const Tensor betas = ops::sigmoid(backend, numbers(row.heads, 5, 1.0F));
    const int64_t slots = lengths.count() + 2;
    const int64_t columns = row.heads * row.dk * row.dv;
    const States before(backend, normals(slots * columns, 6, 0.3F), slots, columns, row.layout,
                        row.timed);
    const Tensor at = slots_of(backend, lengths.count());
    return [=, &backend]() -> std::vector<Tensor> {
      const Tensor states = before.make();
      const Tensor y = ops::delta_rule(
          backend, q, k, v, lengths,
          {.heads = row.heads, .key_heads = row.key_heads, .gates = &gates, .betas = &betas}, at,
          states);
      return row.timed ? std::vector{y} : std::vector{y, ops::copy(backend, states)};
    };
  };
  // What a step does to a column of the state makes no error larger (e^gate (1 - beta k k^T) within
  // 1), and adds that of a sum of dk products with the column, whose length is what it was and a
  // value's for each row; gate and beta err by a few epsilons of it, too.
  c.bound = [row](const std::vector<Values>& expected) {
    const auto rows = static_cast<float>(*std::ranges::max_element(row.lengths));
    const float length = 2.0F * std::sqrt(0.09F * static_cast<float>(row.dk) + 4.0F * rows);
    const float error = (rows + 1.0F) * (sum_error(row.dk) + 16.0F * kEpsilon) * length;
    std::vector<Values> bounds;
    bounds.reserve(expected.size());
    for (const Values& values : expected) {
      bounds.emplace_back(values.size(), error);
    }
    return bounds;
  };
  return c;
}

void add_short_conv_cases(std::vector<OpCase>& table) {
  for (const Layout layout : {Layout::Contiguous, Layout::Strided}) {
    for (ShortConvRow row :
         {ShortConvRow{.lengths = {1}, .d = 1},
          {.lengths = {3, 1, 0, 2}, .d = 17, .taps = 4},
          {.lengths = {1, 1, 5}, .d = 64, .activation = Activation::Silu},
          {.lengths = {9, 2}, .d = 31, .taps = 8, .activation = Activation::Silu},
          {.lengths = {7}, .d = 15, .taps = 2}}) {
      row.layout = layout;
      table.push_back(short_conv_case(row));
    }
  }
  // LFM2 1.2B and Qwen 3.5 4B: a token, and a piece of a prompt.
  for (const int64_t length : {1, 512}) {
    for (const ShortConvRow& row : {ShortConvRow{.lengths = {length}, .d = 2048, .timed = true},
                                    {.lengths = {length},
                                     .d = 8192,
                                     .taps = 4,
                                     .activation = Activation::Silu,
                                     .timed = true}}) {
      OpCase c = short_conv_case(row);
      c.operations = 2.0 * static_cast<double>(length * row.d * row.taps);
      c.bytes = 8.0 * static_cast<double>((length + row.taps - 1) * row.d);
      c.large = true;
      table.push_back(std::move(c));
    }
  }
}

void add_delta_cases(std::vector<OpCase>& table) {
  for (const Layout layout : {Layout::Contiguous, Layout::Strided}) {
    for (DeltaRow row : {DeltaRow{.lengths = {1}},
                         {.lengths = {3, 1, 0, 2}, .heads = 4, .key_heads = 2, .dk = 8, .dv = 8},
                         {.lengths = {1, 1, 1}, .heads = 2, .key_heads = 1, .dk = 17, .dv = 33},
                         {.lengths = {9, 1}, .heads = 3, .key_heads = 3, .dk = 65, .dv = 32},
                         {.lengths = {5, 4}, .heads = 2, .key_heads = 2, .dk = 128, .dv = 128}}) {
      row.layout = layout;
      table.push_back(delta_case(row));
    }
  }
  // Qwen 3.5 4B and 9B: a token, eight texts' tokens, and a piece of a prompt.
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{1}, std::vector<int64_t>(8, 1), std::vector<int64_t>{512}}) {
    OpCase c = delta_case(
        {.lengths = lengths, .heads = 32, .key_heads = 16, .dk = 128, .dv = 128, .timed = true});
    const auto rows = static_cast<double>(Lengths(lengths).total());
    constexpr double kState = 32.0 * 128 * 128;
    c.operations = 7.0 * rows * kState;
    c.bytes = 8.0 * static_cast<double>(lengths.size()) * kState;
    c.large = true;
    table.push_back(std::move(c));
  }
}

}  // namespace

void add_recurrent_cases(std::vector<OpCase>& table) {
  add_short_conv_cases(table);
  add_delta_cases(table);
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
