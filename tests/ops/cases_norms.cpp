// Rows of the table: norms and distributions.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

constexpr int64_t kNormRows = 5;
constexpr float kOffset = 3.0F;  // a mean that is not zero, so that a lost one shows

std::vector<float> shifted(int64_t count, uint64_t seed) {
  std::vector<float> values = normals(count, seed);
  for (float& value : values) {
    value += kOffset;
  }
  return values;
}

// (x - mean) / deviation * gamma + beta: the mean errs by a sum's error of |x|, which the division
// magnifies; gamma is below 3.5, beta below 3.5.
float norm_bound(std::span<const float> x, size_t stride, size_t n, float eps) {
  double mean = 0.0;
  double square = 0.0;
  float peak = 0.0F;
  for (size_t i = 0; i < n; ++i) {
    mean += x[i * stride];
    square += static_cast<double>(x[i * stride]) * x[i * stride];
    peak = std::max(peak, std::fabs(x[i * stride]));
  }
  mean /= static_cast<double>(n);
  const double variance = std::max(0.0, square / static_cast<double>(n) - mean * mean);
  const auto deviation = static_cast<float>(std::sqrt(variance + eps));
  return 3.5F * (sum_error(static_cast<int64_t>(n)) * 2.0F * peak / deviation + 4.0F * kEpsilon);
}

using NormOp = std::function<Tensor(Backend&, const Tensor&, const Tensor&, const Tensor&)>;

OpCase norm_case(const char* op, int64_t rows, int64_t d, Layout layout, float eps,
                 const NormOp& run) {
  OpCase c;
  c.op = op;
  c.name = fmt::format("({}, {}){}", rows, d, layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, shifted(rows * d, 1), rows, d, layout);
    const Tensor gamma = ops::from_host(backend, normals(d, 2), {d});
    const Tensor beta = ops::from_host(backend, normals(d, 3), {d});
    return [=, &backend]() -> std::vector<Tensor> { return {run(backend, x, gamma, beta)}; };
  };
  c.bound = [=](const std::vector<Values>&) {
    const std::vector<float> x = shifted(rows * d, 1);
    Values bounds;
    for (int64_t i = 0; i < rows; ++i) {
      bounds.insert(bounds.end(), static_cast<size_t>(d),
                    norm_bound(std::span(x).subspan(static_cast<size_t>(i * d)), 1,
                               static_cast<size_t>(d), eps));
    }
    return std::vector<Values>{bounds};
  };
  c.operations = 7.0 * static_cast<double>(rows * d);
  c.bytes = 8.0 * static_cast<double>(rows * d);
  return c;
}

// gamma / deviation, then beta - mean * that: the mean errs by a sum's error of |x|, which the
// division magnifies; gamma and beta are below 3.5.
OpCase instance_factors_case(const std::vector<int64_t>& lengths, int64_t d, Layout layout) {
  constexpr float kEps = 1e-3F;
  OpCase c;
  c.op = "instance_factors";
  c.name = fmt::format("[{}] {}{}", fmt::join(lengths, " "), d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Lengths spans{lengths};
    const int64_t count = spans.count();
    const Tensor x = matrix(backend, shifted(spans.total() * d, 1), spans.total(), d, layout);
    const Tensor gamma = matrix(backend, normals(count * d, 2), count, d, layout);
    const Tensor beta = matrix(backend, normals(count * d, 3), count, d, layout);
    return [=, &backend]() -> std::vector<Tensor> {
      return {ops::instance_factors(backend, x, spans, gamma, beta, kEps)};
    };
  };
  c.bound = [=](const std::vector<Values>& expected) {
    const Lengths spans{lengths};
    const std::vector<float> x = shifted(spans.total() * d, 1);
    std::vector<Values> bounds = expected;
    for (int64_t u = 0; u < spans.count(); ++u) {
      for (int64_t j = 0; j < d; ++j) {
        double mean = 0.0;
        double square = 0.0;
        float peak = 0.0F;
        const auto n = static_cast<double>(std::max<int64_t>(spans[u].length, 1));
        for (int64_t i = spans[u].begin; i < spans[u].end(); ++i) {
          const auto value = static_cast<double>(x[static_cast<size_t>(i * d + j)]);
          mean += value / n;
          square += value * value / n;
          peak = std::max(peak, static_cast<float>(std::fabs(value)));
        }
        const double variance = std::max(0.0, square - mean * mean);
        const auto deviation = static_cast<float>(std::sqrt(variance + kEps));
        const float relative = sum_error(spans[u].length) * peak / deviation + 4.0F * kEpsilon;
        auto* const own = bounds[0].data() + 2 * u * d;
        const float scale = std::fabs(expected[0][static_cast<size_t>(2 * u * d + j)]);
        own[j] = relative * scale;
        own[d + j] = relative * (2.0F * scale * peak + 3.5F);
      }
    }
    return bounds;
  };
  return c;
}

// Scores within +-4 * spread. exp errs by a few epsilons and by its argument's rounding; the sum by
// a sum's error.
OpCase softmax_case(bool logarithm, int64_t rows, int64_t d, float spread, Layout layout) {
  OpCase c;
  c.op = logarithm ? "log_softmax" : "softmax";
  c.name = fmt::format("({}, {}) spread {}{}", rows, d, spread,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(rows * d, 1, spread), rows, d, layout);
    return [=, &backend]() -> std::vector<Tensor> {
      return {logarithm ? ops::log_softmax(backend, x) : ops::softmax(backend, x)};
    };
  };
  const float relative = sum_error(d) + kEpsilon * (8.0F + 8.0F * spread);
  c.bound = each_value([=](float expected) {
    // Below the smallest normal number a result may be zero.
    return logarithm ? relative + 2.0F * kEpsilon * std::fabs(expected)
                     : relative * expected + std::numeric_limits<float>::min();
  });
  c.operations = 6.0 * static_cast<double>(rows * d);
  c.bytes = 8.0 * static_cast<double>(rows * d);
  return c;
}

}  // namespace

void add_norm_cases(std::vector<OpCase>& table) {
  const NormOp layer = [](Backend& b, const Tensor& x, const Tensor& gamma, const Tensor& beta) {
    return ops::layer_norm(b, x, gamma, beta);
  };
  const NormOp rms = [](Backend& b, const Tensor& x, const Tensor& gamma, const Tensor&) {
    return ops::rms_norm(b, x, gamma);
  };
  for (const int64_t d : {1, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 80, 384, 1500}) {
    for (const Layout layout : {Layout::Contiguous, Layout::Strided}) {
      table.push_back(norm_case("layer_norm", kNormRows, d, layout, 1e-5F, layer));
      table.push_back(norm_case("rms_norm", kNormRows, d, layout, 1e-6F, rms));
      table.push_back(softmax_case(false, kNormRows, d, 4.0F, layout));
      table.push_back(softmax_case(true, kNormRows, d, 4.0F, layout));
    }
  }
  table.push_back(norm_case("layer_norm", 0, 8, Layout::Contiguous, 1e-5F, layer));
  table.push_back(softmax_case(false, 3, 33, 40.0F, Layout::Contiguous));
  table.push_back(softmax_case(true, 3, 33, 40.0F, Layout::Contiguous));
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{1}, {7, 0, 33}, {100, 3, 16, 65}, {300, 128, 129}}) {
    table.push_back(instance_factors_case(lengths, 17, Layout::Strided));
    table.push_back(instance_factors_case(lengths, 64, Layout::Contiguous));
  }
  OpCase generator = instance_factors_case({9600}, 128, Layout::Contiguous);
  generator.operations = 4.0 * 9600 * 128;
  generator.bytes = 4.0 * 9600 * 128;
  OpCase encoder = norm_case("layer_norm", 1500, 384, Layout::Contiguous, 1e-5F, layer);
  OpCase vocabulary = softmax_case(true, 1, 51864, 4.0F, Layout::Contiguous);
  for (OpCase* c : {&encoder, &vocabulary, &generator}) {
    c->large = true;
    table.push_back(*c);
  }
}

}  // namespace mynah::cases
