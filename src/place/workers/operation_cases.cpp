#include "place/workers/operation_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "backend/ref/ref_backend.h"
#include "ops/ops.h"

namespace mynah::place {
namespace {

// f32's distance from 1 to the next number, and how many roundings of the last bit a function
// (exponential, error function) may add to each term: CUDA C++ Programming Guide, "Mathematical
// Functions", lists at most 4 for those used here.
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kRoundings = 16;

// Whole numbers between -limit and limit, spread by a multiplicative generator (Lehmer 1951, with
// the factor of Park and Miller 1988). Products of them and sums of a few hundred are exact in f32,
// and they themselves in f16 and bf16 too: whatever type a device multiplies with.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}

  std::vector<float> whole(size_t count, int limit) {
    std::vector<float> values(count);
    for (float& value : values) {
      state_ = state_ * 48271 % 2147483647;
      value = static_cast<float>(static_cast<int>(state_ % (2 * static_cast<uint64_t>(limit) + 1)) -
                                 limit);
    }
    return values;
  }

  std::vector<float> between_one(size_t count) {
    std::vector<float> values = whole(count, 1024);
    std::ranges::transform(values, values.begin(), [](float v) { return v / 1024; });
    return values;
  }

 private:
  uint64_t state_;
};

Tensor on(Backend& backend, const std::vector<float>& values, const Shape& shape) {
  return ops::from_host(backend, std::span<const float>(values), shape);
}

// Weights come from files: from the host's memory.
template <class Pack>
LinearWeight packed(const std::vector<float>& values, const Shape& shape, const Pack& pack) {
  const auto host = make_ref_backend();
  return pack(on(*host, values, shape));
}

constexpr int64_t kRows = 5;
constexpr int64_t kIn = 64;
constexpr int64_t kOut = 48;

std::vector<float> linear(Backend& backend, DType storage, Precision precision) {
  Numbers numbers(1);
  // Each row's largest number is 127: an int8 scale of 1, nothing is rounded.
  std::vector<float> x = numbers.whole(kRows * kIn, 100);
  for (size_t row = 0; row < kRows; ++row) {
    x[row * kIn] = 127;
  }
  std::vector<float> w = numbers.whole(kOut * kIn, 7);
  for (size_t row = 0; row < kOut; ++row) {
    w[row * kIn + 1] = 127;
  }
  const LinearWeight weight = packed(
      w, {kOut, kIn}, [&](const Tensor& t) { return ops::pack_linear(backend, t, storage); });
  return ops::to_host(backend, ops::linear(backend, on(backend, x, {kRows, kIn}), weight,
                                           {.precision = precision}));
}

std::vector<float> gelu_linear(Backend& backend) {
  Numbers numbers(2);
  const LinearWeight weight =
      packed(numbers.between_one(kOut * kIn), {kOut, kIn},
             [&](const Tensor& t) { return ops::pack_linear(backend, t, DType::F32); });
  const Tensor bias = on(backend, numbers.between_one(kOut), {kOut});
  const Tensor x = on(backend, numbers.between_one(kRows * kIn), {kRows, kIn});
  return ops::to_host(
      backend, ops::linear(backend, x, weight, {.bias = &bias, .activation = Activation::Gelu}));
}

std::vector<float> matmul(Backend& backend) {
  Numbers numbers(3);
  const Tensor a = on(backend, numbers.whole(2 * 7 * kIn, 30), {2, 7, kIn});
  const Tensor b = on(backend, numbers.whole(2 * 9 * kIn, 30), {2, 9, kIn});
  return ops::to_host(backend, ops::matmul(backend, a, b, true));
}

std::vector<float> conv1d(Backend& backend) {
  Numbers numbers(4);
  constexpr int64_t kChannels = 16;
  const LinearWeight weight =
      packed(numbers.whole(kOut * kChannels * 3, 20), {kOut, kChannels, 3},
             [&](const Tensor& t) { return ops::pack_conv1d(backend, t, DType::F32); });
  Lengths lengths{9, 6};
  const Tensor x = on(backend, numbers.whole(15 * kChannels, 20), {15, kChannels});
  return ops::to_host(
      backend, ops::conv1d(backend, x, lengths, weight,
                           {.kernel = 3, .stride = 2, .padding_left = 1, .padding_right = 1}));
}

std::vector<float> attention(Backend& backend) {
  Numbers numbers(5);
  const Tensor q = on(backend, numbers.between_one(4 * kIn), {4, kIn});
  const Tensor k = on(backend, numbers.between_one(11 * kIn), {11, kIn});
  const Tensor v = on(backend, numbers.between_one(11 * kIn), {11, kIn});
  const std::array queries = {Span{.begin = 0, .length = 4}};
  const std::array keys = {Span{.begin = 0, .length = 11}};
  return ops::to_host(backend, ops::attention(backend, q, k, v,
                                              {.heads = 2,
                                               .kv_heads = 2,
                                               .scale = 0.2F,
                                               .causal = true,
                                               .queries = queries,
                                               .keys = keys}));
}

std::vector<float> packed_attention(Backend& backend) {
  Numbers numbers(6);
  const Tensor q = on(backend, numbers.between_one(4 * kIn), {4, kIn});
  const Tensor k = on(backend, numbers.between_one(13 * kIn), {13, kIn});
  const Tensor v = on(backend, numbers.between_one(13 * kIn), {13, kIn});
  const KeysValues kept = ops::pack_keys_values(backend, k, v, 2);
  const std::array queries = {Span{.begin = 0, .length = 4}};
  const std::array<const KeysValues*, 1> keys = {&kept};
  return ops::to_host(
      backend, ops::attention_packed(
                   backend, q, {.heads = 2, .scale = 0.2F, .queries = queries, .keys = keys}));
}

std::vector<float> norms(Backend& backend) {
  Numbers numbers(7);
  const Tensor x = on(backend, numbers.between_one(kRows * kIn), {kRows, kIn});
  const Tensor gamma = on(backend, numbers.between_one(kIn), {kIn});
  const Tensor beta = on(backend, numbers.between_one(kIn), {kIn});
  std::vector<float> values = ops::to_host(backend, ops::layer_norm(backend, x, gamma, beta));
  std::ranges::copy(ops::to_host(backend, ops::softmax(backend, x)), std::back_inserter(values));
  return values;
}

std::vector<float> lstm(Backend& backend) {
  Numbers numbers(8);
  constexpr int64_t kHidden = 24;
  const auto weight = [&](int64_t in) {
    std::vector<float> w = numbers.between_one(static_cast<size_t>(4 * kHidden * in));
    std::ranges::transform(w, w.begin(), [](float v) { return v / 4; });
    return packed(w, {4 * kHidden, in},
                  [&](const Tensor& t) { return ops::pack_linear(backend, t, DType::F32); });
  };
  const LinearWeight w_ih = weight(kIn);
  const LinearWeight w_hh = weight(kHidden);
  const Tensor bias = on(backend, numbers.between_one(4 * kHidden), {4 * kHidden});
  const Tensor x = on(backend, numbers.between_one(8 * kIn), {8, kIn});
  const Tensor h = ops::zeros(backend, {1, kHidden});
  const Tensor c = ops::zeros(backend, {1, kHidden});
  return ops::to_host(backend,
                      ops::lstm(backend, x, Lengths{8}, w_ih, w_hh, bias, {.reverse = true}, h, c));
}

std::vector<float> element_by_element(Backend& backend) {
  Numbers numbers(9);
  const Tensor x = on(backend, numbers.between_one(kRows * kIn), {kRows, kIn});
  const Tensor y = on(backend, numbers.between_one(kIn), {kIn});
  return ops::to_host(backend, ops::add(backend, ops::silu(backend, x),
                                        ops::mul(backend, ops::tanh(backend, x), y)));
}

std::vector<float> rows_and_sums(Backend& backend) {
  Numbers numbers(10);
  const Tensor table = on(backend, numbers.whole(kOut * kIn, 50), {kOut, kIn});
  const std::vector<int32_t> picked = {7, 0, 47, 7, 21};
  const Tensor ids =
      ops::from_host(backend, std::span<const int32_t>(picked), {std::ssize(picked)});
  const Tensor rows = ops::gather_rows(backend, table, ids);
  std::vector<float> values = ops::to_host(backend, ops::transpose(backend, rows));
  std::ranges::copy(ops::to_host(backend, ops::cumsum(backend, rows)), std::back_inserter(values));
  std::ranges::copy(ops::to_host(backend, ops::max(backend, rows)), std::back_inserter(values));
  return values;
}

struct Case {
  std::string_view name;
  std::function<std::vector<float>(Backend&)> run;
  int64_t terms;  // of the longest chain of roundings; 0: the result is exact
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"linear of f32", [](Backend& b) { return linear(b, DType::F32, Precision::Exact); }, 0},
      {"linear of f16", [](Backend& b) { return linear(b, DType::F16, Precision::Fast); }, 0},
      {"linear of int8", [](Backend& b) { return linear(b, DType::I8, Precision::Fast); }, 0},
      {"linear with GELU", gelu_linear, kIn},
      {"matmul", matmul, 0},
      {"conv1d", conv1d, 0},
      {"attention", attention, kIn},
      {"attention over packed keys", packed_attention, kIn},
      {"layer norm and softmax", norms, kIn},
      {"lstm", lstm, 8 * kIn},
      {"element by element", element_by_element, 4},
      {"rows and sums", rows_and_sums, 0},
  };
  return all;
}

}  // namespace

std::vector<OperationOutcome> run_operation_cases(Backend& backend) {
  std::vector<OperationOutcome> outcomes;
  for (const Case& one : cases()) {
    outcomes.push_back({.name = std::string(one.name), .values = one.run(backend)});
  }
  return outcomes;
}

double worst_difference(std::span<const float> found, std::span<const float> expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (found.size() != expected.size()) {
    return kInfinite;
  }
  double worst = 0;
  double largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i])) {
      return kInfinite;
    }
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - expected[i]));
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst == 0 ? 0 : worst / std::max(largest, std::numeric_limits<double>::min());
}

std::string compare_with_definition(std::span<const OperationOutcome> outcomes) {
  const auto ref = make_ref_backend();
  for (size_t i = 0; i < cases().size(); ++i) {
    const Case& one = cases()[i];
    if (i >= outcomes.size() || outcomes[i].name != one.name) {
      return fmt::format("{} was not computed", one.name);
    }
    // An exact result may still be scaled by a power of two's neighbour on its way (int8).
    const double bound =
        kRoundings * kEpsilon * static_cast<double>(std::max<int64_t>(1, one.terms));
    const double worst = worst_difference(outcomes[i].values, one.run(*ref));
    if (!(worst <= bound)) {
      return fmt::format("{} is {:.2g} from its definition (at most {:.2g} is rounding)", one.name,
                         worst, bound);
    }
  }
  return {};
}

}  // namespace mynah::place
