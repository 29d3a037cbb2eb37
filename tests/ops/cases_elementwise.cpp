// Rows of the table: element by element.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "ops/bounds.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

constexpr std::array<int64_t, 15> kWidths = {1,  3,  7,  8,  15, 16,  17,  31,
                                             33, 63, 64, 65, 80, 384, 1500};

struct UnaryFacts {
  UnaryOp op;
  const char* name;
  float scale;     // of the inputs
  bool positive;   // magnitudes of the inputs only
  float absolute;  // bound in epsilons, of 1
  float input;     // and of |x|
  float output;    // and of |y|
};

// Gelu and silu are x times a number that errs by a few epsilons of 1; tanh and sigmoid are such
// numbers. The exponential's argument is itself an f32: 8 epsilons leave room for its reduction.
constexpr std::array kUnary = {
    UnaryFacts{UnaryOp::Relu, "relu", 1.0F, false, 0.0F, 0.0F, 0.0F},
    UnaryFacts{UnaryOp::Gelu, "gelu", 2.0F, false, 0.0F, 4.0F, 2.0F},
    UnaryFacts{UnaryOp::GeluTanh, "gelu_tanh", 2.0F, false, 0.0F, 6.0F, 2.0F},
    UnaryFacts{UnaryOp::Silu, "silu", 4.0F, false, 0.0F, 4.0F, 2.0F},
    UnaryFacts{UnaryOp::Sigmoid, "sigmoid", 4.0F, false, 0.0F, 0.0F, 8.0F},
    UnaryFacts{UnaryOp::Tanh, "tanh", 2.0F, false, 4.0F, 0.0F, 2.0F},
    UnaryFacts{UnaryOp::Exp, "exp", 10.0F, false, 0.0F, 0.0F, 8.0F},
    UnaryFacts{UnaryOp::Log, "log", 10.0F, true, 2.0F, 0.0F, 4.0F},
    UnaryFacts{UnaryOp::Sqrt, "sqrt", 10.0F, true, 0.0F, 0.0F, 1.0F},
    UnaryFacts{UnaryOp::Negate, "negate", 1.0F, false, 0.0F, 0.0F, 0.0F},
    UnaryFacts{UnaryOp::Abs, "abs", 1.0F, false, 0.0F, 0.0F, 0.0F},
    UnaryFacts{UnaryOp::Softplus, "softplus", 10.0F, false, 4.0F, 0.0F, 2.0F},
};

std::vector<float> unary_inputs(const UnaryFacts& facts, int64_t count) {
  std::vector<float> x = normals(count, 1, facts.scale);
  for (float& value : x) {
    value = facts.positive ? std::fabs(value) + 1e-6F : value;
  }
  return x;
}

OpCase unary_case(const UnaryFacts& facts, int64_t rows, int64_t d, Layout layout) {
  OpCase c;
  c.op = "unary";
  c.name = fmt::format("{} ({}, {}){}", facts.name, rows, d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, unary_inputs(facts, rows * d), rows, d, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::unary(backend, facts.op, x)}; };
  };
  c.bound = [=](const std::vector<Values>& expected) {
    const std::vector<float> x = unary_inputs(facts, rows * d);
    std::vector<Values> bounds = expected;
    for (size_t i = 0; i < x.size(); ++i) {
      bounds[0][i] = kEpsilon * (facts.absolute + facts.input * std::fabs(x[i]) +
                                 facts.output * std::fabs(expected[0][i]));
    }
    return bounds;
  };
  c.operations = static_cast<double>(rows * d);
  c.bytes = 8.0 * static_cast<double>(rows * d);
  return c;
}

constexpr std::array kBinary = {
    std::pair{BinaryOp::Add, "add"},         std::pair{BinaryOp::Subtract, "subtract"},
    std::pair{BinaryOp::Multiply, "mul"},    std::pair{BinaryOp::Divide, "divide"},
    std::pair{BinaryOp::Maximum, "maximum"}, std::pair{BinaryOp::Minimum, "minimum"}};

OpCase binary_case(BinaryOp op, const char* op_name, int64_t d, const Shape& b_shape,
                   Layout layout) {
  constexpr int64_t kRows = 4;
  OpCase c;
  c.op = "binary";
  c.name = fmt::format("{} ({}, {}) with {}{}", op_name, kRows, d, b_shape.str(),
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor a = matrix(backend, normals(kRows * d, 1), kRows, d, layout);
    const std::vector<float> other = normals(b_shape.elements(), 2);
    const Tensor b = b_shape.rank() == 2 ? matrix(backend, other, b_shape[0], b_shape[1], layout)
                                         : ops::from_host(backend, other, b_shape);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::binary(backend, op, a, b)}; };
  };
  // One correctly rounded operation each; a division may be a multiplication by the reciprocal.
  c.bound = each_value(
      [op](float y) { return op == BinaryOp::Divide ? 2.0F * kEpsilon * std::fabs(y) : 0.0F; });
  return c;
}

OpCase affine_case(int64_t d, float scale, float shift, Layout layout) {
  OpCase c;
  c.op = "affine";
  c.name = fmt::format("{} x + {} of {}{}", scale, shift, d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(3 * d, 1), 3, d, layout);
    return
        [=, &backend]() -> std::vector<Tensor> { return {ops::affine(backend, x, scale, shift)}; };
  };
  c.bound = [=](const std::vector<Values>& expected) {
    const std::vector<float> x = normals(3 * d, 1);
    std::vector<Values> bounds = expected;
    for (size_t i = 0; i < x.size(); ++i) {
      bounds[0][i] = kEpsilon * (std::fabs(scale * x[i]) + std::fabs(expected[0][i]));
    }
    return bounds;
  };
  return c;
}

OpCase leaky_relu_case(int64_t rows, int64_t d, float slope, Layout layout) {
  OpCase c;
  c.op = "leaky_relu";
  c.name = fmt::format("slope {} ({}, {}){}", slope, rows, d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(rows * d, 1), rows, d, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::leaky_relu(backend, x, slope)}; };
  };
  c.bound = exact();
  c.operations = static_cast<double>(rows * d);
  c.bytes = 8.0 * static_cast<double>(rows * d);
  return c;
}

OpCase gated_case(const GatedParams& params, int64_t rows, int64_t d, Layout layout) {
  OpCase c;
  c.op = "gated";
  c.name = fmt::format(
      "{} ({}, {}){}{}", params.activation == Activation::Silu ? "silu" : "gelu_tanh", rows, d,
      params.shift != 0.0F ? " limited" : "", layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, normals(rows * 2 * d, 1, 4.0F), rows, 2 * d, layout);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::gated(backend, x, params)}; };
  };
  // The activation's own error, as kUnary has it, times what it is multiplied with; and the
  // roundings of a product, or of two more by the scale and a sum.
  c.bound = [=](const std::vector<Values>& expected) {
    const std::vector<float> x = normals(rows * 2 * d, 1, 4.0F);
    std::vector<Values> bounds = expected;
    for (int64_t i = 0; i < rows * d; ++i) {
      const auto at = static_cast<size_t>(i / d * 2 * d + i % d);
      const float value = std::fabs(x[at + static_cast<size_t>(d)]) + params.shift;
      bounds[0][static_cast<size_t>(i)] =
          kEpsilon *
          (8.0F * std::fabs(x[at]) * value + 5.0F * std::fabs(expected[0][static_cast<size_t>(i)]));
    }
    return bounds;
  };
  c.operations = 8.0 * static_cast<double>(rows * d);
  c.bytes = 12.0 * static_cast<double>(rows * d);
  return c;
}

// Above zero: between a thirtieth and thirty.
std::vector<float> snake_alphas(int64_t d) {
  std::vector<float> alphas = normals(d, 2);
  for (float& alpha : alphas) {
    alpha = std::exp(alpha);
  }
  return alphas;
}

// alpha * x of both signs, up to 3.5 times `scale`.
std::vector<float> snake_inputs(int64_t rows, int64_t d, float scale) {
  const std::vector<float> alphas = snake_alphas(d);
  std::vector<float> x = normals(rows * d, 1, scale);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] /= alphas[i % alphas.size()];
  }
  return x;
}

// The backends' sin^2 has a stated error, in epsilons (kernels/math.h). Its argument is the rounded
// alpha * x, off by half an epsilon of itself, which with a slope of at most 1 and the division
// leaves half an epsilon of x. The quotient, the sum and the reference's own rounding add half an
// epsilon of each.
float snake_bound(float x, float alpha, float y) {
  const double t = std::fabs(static_cast<double>(alpha) * static_cast<double>(x));
  const double square = std::sin(t) * std::sin(t);
  double error = 2.5 * square;
  if (t > 1e4) {
    error = 0.6 * t;
  } else if (t > std::numbers::pi / 2) {
    error = 2.5;
  }
  return kEpsilon *
         (0.5F * std::fabs(x) + static_cast<float>(error + 0.5 * square) / alpha + std::fabs(y));
}

OpCase snake_case(int64_t rows, int64_t d, float scale, Layout layout) {
  OpCase c;
  c.op = "snake";
  c.name = fmt::format("scale {} ({}, {}){}", scale, rows, d,
                       layout == Layout::Strided ? " strided" : "");
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor x = matrix(backend, snake_inputs(rows, d, scale), rows, d, layout);
    const Tensor alpha = ops::from_host(backend, snake_alphas(d), {d});
    return [=, &backend]() -> std::vector<Tensor> { return {ops::snake(backend, x, alpha)}; };
  };
  c.bound = [=](const std::vector<Values>& expected) {
    const std::vector<float> x = snake_inputs(rows, d, scale);
    const std::vector<float> alphas = snake_alphas(d);
    std::vector<Values> bounds = expected;
    for (size_t i = 0; i < x.size(); ++i) {
      bounds[0][i] = snake_bound(x[i], alphas[i % alphas.size()], expected[0][i]);
    }
    return bounds;
  };
  c.operations = 20.0 * static_cast<double>(rows * d);
  c.bytes = 8.0 * static_cast<double>(rows * d) + 4.0 * static_cast<double>(d);
  return c;
}

OpCase dequantize_case(DType dtype, int64_t rows, int64_t d) {
  OpCase c;
  c.op = "dequantize";
  c.name = fmt::format("{} ({}, {})", name(dtype), rows, d);
  c.prepare = [=](Backend& backend) -> Step {
    const Tensor host = host_tensor({rows, d}, dtype, 1);
    const Tensor x =
        ops::from_host(backend, {host.raw(), storage_bytes(dtype, rows * d)}, {rows, d}, dtype);
    return [=, &backend]() -> std::vector<Tensor> { return {ops::dequantize(backend, x)}; };
  };
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

// Numbers at the edges of the type: what functions must make of them.
OpCase edges_case(const UnaryFacts& facts) {
  OpCase c;
  c.op = "unary";
  c.name = fmt::format("{} of infinities, NaN, zeros and the largest numbers", facts.name);
  c.prepare = [=](Backend& backend) -> Step {
    const std::vector<float> x{
        INFINITY, facts.positive ? INFINITY : -INFINITY, NAN,
        0.0F,     std::numeric_limits<float>::max() / 2, facts.positive ? 1.0F : -50.0F,
        50.0F,    std::numeric_limits<float>::min()};
    const Tensor t = ops::from_host(backend, x, {1, static_cast<int64_t>(x.size())});
    return [=, &backend]() -> std::vector<Tensor> { return {ops::unary(backend, facts.op, t)}; };
  };
  c.bound = each_value([](float y) { return 8.0F * kEpsilon * std::max(1.0F, std::fabs(y)); });
  return c;
}

}  // namespace

void add_elementwise_cases(std::vector<OpCase>& table) {
  for (const UnaryFacts& facts : kUnary) {
    for (const int64_t d : kWidths) {
      table.push_back(unary_case(facts, 3, d, d % 2 == 0 ? Layout::Contiguous : Layout::Strided));
    }
    table.push_back(unary_case(facts, 0, 5, Layout::Contiguous));
    // x * 0 of an infinity is NaN in some forms of these and 0 in others; models never meet it.
    const bool product =
        facts.op == UnaryOp::Gelu || facts.op == UnaryOp::GeluTanh || facts.op == UnaryOp::Silu;
    if (!product) {
      table.push_back(edges_case(facts));
    }
  }
  OpCase gelu = unary_case(kUnary[1], 1500, 1536, Layout::Contiguous);
  gelu.large = true;
  table.push_back(std::move(gelu));
  for (const auto& [op, op_name] : kBinary) {
    for (const int64_t d : kWidths) {
      for (const Shape& b : {Shape{4, d}, Shape{d}, Shape{1}}) {
        const Layout layout = d % 2 == 0 ? Layout::Contiguous : Layout::Strided;
        if (b.rank() == 2 || d > 1) {  // for d of 1, one row is one element
          table.push_back(binary_case(op, op_name, d, b, layout));
        }
      }
    }
  }
  for (const int64_t d : {1, 17, 64, 1500}) {
    table.push_back(affine_case(d, -0.25F, 1.0F, Layout::Strided));
    table.push_back(affine_case(d, 3.7F, 0.0F, Layout::Contiguous));
  }
  for (const int64_t d : kWidths) {
    const Layout layout = d % 2 == 0 ? Layout::Contiguous : Layout::Strided;
    table.push_back(leaky_relu_case(3, d, 0.1F, layout));
    table.push_back(snake_case(3, d, 2.0F, layout));
    table.push_back(gated_case({}, 3, d, layout));
    table.push_back(gated_case({.activation = Activation::GeluTanh}, 1, d, layout));
    table.push_back(gated_case({.limit = 7.0F, .scale = 1.702F, .shift = 1.0F}, 5, d, layout));
  }
  table.push_back(gated_case({}, 0, 5, Layout::Contiguous));
  OpCase gated = gated_case({}, 512, 1536, Layout::Contiguous);
  gated.large = true;
  table.push_back(std::move(gated));
  table.push_back(leaky_relu_case(0, 5, 0.1F, Layout::Contiguous));
  table.push_back(leaky_relu_case(5, 64, 0.01F, Layout::Strided));
  table.push_back(snake_case(0, 5, 2.0F, Layout::Contiguous));
  table.push_back(snake_case(1, 1001, 2.0F, Layout::Contiguous));
  table.push_back(snake_case(5, 64, 2.0F, Layout::Strided));
  // Small: the sine's own digits. Large: up to 1e4, and beyond what its period is exact for.
  for (const float scale : {1e-4F, 0.4F, 50.0F, 2800.0F, 1e8F}) {
    table.push_back(snake_case(40, 130, scale, Layout::Contiguous));
  }
  // A second of a vocoder's last stage, at 24 kHz with a hop of 5 samples.
  OpCase snake = snake_case(4800, 128, 2.0F, Layout::Contiguous);
  snake.large = true;
  table.push_back(std::move(snake));
  OpCase leaky = leaky_relu_case(4800, 128, 0.1F, Layout::Contiguous);
  leaky.large = true;
  table.push_back(std::move(leaky));
  for (const DType dtype : weight_types()) {
    table.push_back(dequantize_case(dtype, 3, block_elements(dtype) == 1 ? 33 : 512));
  }
}

}  // namespace mynah::cases
