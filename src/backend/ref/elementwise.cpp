// Element by element.
#include <cmath>
#include <numbers>

#include "backend/ref/access.h"
#include "backend/ref/ref_backend.h"

namespace mynah {

using ref::row;

namespace {

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

// x * Phi(x), Phi the normal distribution's cumulative (Hendrycks & Gimpel, arXiv:1606.08415).
// erfc keeps its digits where erf would be close to -1.
double gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

// The same paper's approximation.
double gelu_tanh(double x) {
  return 0.5 * x *
         (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double apply(UnaryOp op, double x) {
  switch (op) {
    case UnaryOp::Relu:
      return x < 0.0 ? 0.0 : x;
    case UnaryOp::Gelu:
      return gelu(x);
    case UnaryOp::GeluTanh:
      return gelu_tanh(x);
    case UnaryOp::Silu:
      return x * sigmoid(x);
    case UnaryOp::Sigmoid:
      return sigmoid(x);
    case UnaryOp::Tanh:
      return std::tanh(x);
    case UnaryOp::Exp:
      return std::exp(x);
    case UnaryOp::Log:
      return std::log(x);
    case UnaryOp::Sqrt:
      return std::sqrt(x);
    case UnaryOp::Negate:
      return -x;
    case UnaryOp::Abs:
      return std::fabs(x);
    case UnaryOp::Softplus:
      return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

double apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Subtract:
      return a - b;
    case BinaryOp::Multiply:
      return a * b;
    case BinaryOp::Divide:
      return a / b;
    case BinaryOp::Maximum:
      return a < b ? b : a;
    case BinaryOp::Minimum:
      return b < a ? b : a;
  }
  return a;
}

}  // namespace

double ref::activate(Activation activation, double x) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return apply(UnaryOp::Relu, x);
    case Activation::Gelu:
      return gelu(x);
    case Activation::GeluTanh:
      return gelu_tanh(x);
    case Activation::Silu:
      return apply(UnaryOp::Silu, x);
    case Activation::Sigmoid:
      return sigmoid(x);
    case Activation::Tanh:
      return std::tanh(x);
  }
  return x;
}

void RefBackend::unary(UnaryOp op, const Tensor& x, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, i)[j] = static_cast<float>(apply(op, row(x, i)[j]));
    }
  }
}

void RefBackend::binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  for (int64_t i = 0; i < a.dim(0); ++i) {
    for (int64_t j = 0; j < a.dim(1); ++j) {
      const float other = row(b, b.dim(0) == 1 ? 0 : i)[b.dim(1) == 1 ? 0 : j];
      row(out, i)[j] = static_cast<float>(apply(op, row(a, i)[j], other));
    }
  }
}

void RefBackend::gated(const Tensor& x, const GatedParams& params, const Tensor& out) {
  const int64_t d = out.dim(1);
  const double scale = params.scale;
  for (int64_t i = 0; i < out.dim(0); ++i) {
    for (int64_t j = 0; j < d; ++j) {
      const double gate = std::min(row(x, i)[j], params.limit);
      const double value = std::clamp(row(x, i)[d + j], -params.limit, params.limit);
      row(out, i)[j] = static_cast<float>(ref::activate(params.activation, scale * gate) / scale *
                                          (value + params.shift));
    }
  }
}

void RefBackend::affine(const Tensor& x, float a, float b, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < x.dim(1); ++j) {
      row(out, i)[j] = static_cast<float>(static_cast<double>(a) * row(x, i)[j] + b);
    }
  }
}

void RefBackend::leaky_relu(const Tensor& x, float slope, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < x.dim(1); ++j) {
      const float value = row(x, i)[j];
      row(out, i)[j] = value < 0.0F ? slope * value : value;
    }
  }
}

void RefBackend::snake(const Tensor& x, const Tensor& alpha, const Tensor& out) {
  for (int64_t i = 0; i < x.dim(0); ++i) {
    for (int64_t j = 0; j < x.dim(1); ++j) {
      const double value = row(x, i)[j];
      const double a = alpha.data<float>()[j];
      const double sine = std::sin(a * value);
      row(out, i)[j] = static_cast<float>(value + sine * sine / a);
    }
  }
}

}  // namespace mynah
