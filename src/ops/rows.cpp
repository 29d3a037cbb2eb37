// Norms, distributions, elementwise operations, reductions and rows moved about. The Backend sees
// (rows, d) whatever the rank.
#include <vector>

#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {
namespace {

// Result of x's shape, computed by `run(x as rows, out as rows)`.
template <class Run>
Tensor row_wise(Backend& backend, const char* op, const Tensor& x, Run run) {
  expect_type(backend, op, "x", x);
  Tensor out = empty(backend, x.shape());
  if (out.elements() > 0) {
    run(as_rows(backend, x), as_rows(backend, out));
  }
  return out;
}

// Result of x's shape without its last dimension.
template <class Run>
Tensor reduced(Backend& backend, const char* op, const Tensor& x, DType dtype, Run run) {
  expect_type(backend, op, "x", x);
  MYNAH_CHECK(x.rank() >= 1 && x.dim(-1) >= 1, "[", op, "] x must be (..., d), d at least 1, got ",
              x.shape().str());
  Tensor out = empty(backend, Shape(x.shape().sizes().first(x.shape().sizes().size() - 1)), dtype);
  if (out.elements() > 0) {
    run(as_rows(backend, x), out.reshape({out.elements()}));
  }
  return out;
}

int64_t last_dim(const Tensor& x) {
  return x.rank() == 0 ? 1 : x.dim(-1);
}

}  // namespace

Tensor layer_norm(Backend& backend, const Tensor& x, const Tensor& gamma, const Tensor& beta,
                  float eps) {
  expect(backend, "layer_norm", "gamma", gamma, {last_dim(x)});
  expect(backend, "layer_norm", "beta", beta, {last_dim(x)});
  return row_wise(backend, "layer_norm", x, [&](const Tensor& rows, const Tensor& out) {
    backend.layer_norm(rows, gamma, beta, eps, out);
  });
}

Tensor rms_norm(Backend& backend, const Tensor& x, const Tensor& gamma, float eps) {
  expect(backend, "rms_norm", "gamma", gamma, {last_dim(x)});
  return row_wise(backend, "rms_norm", x, [&](const Tensor& rows, const Tensor& out) {
    backend.rms_norm(rows, gamma, eps, out);
  });
}

Tensor instance_factors(Backend& backend, const Tensor& x, const Lengths& lengths,
                        const Tensor& gamma, const Tensor& beta, float eps) {
  expect(backend, "instance_factors", "x", x, {lengths.total(), "d"});
  expect(backend, "instance_factors", "gamma", gamma, {lengths.count(), x.dim(1)});
  expect(backend, "instance_factors", "beta", beta, {lengths.count(), x.dim(1)});
  Tensor out = empty(backend, {lengths.count(), 2 * x.dim(1)});
  if (out.elements() > 0) {
    backend.instance_factors(x, lengths, gamma, beta, eps, out);
  }
  return out;
}

Tensor softmax(Backend& backend, const Tensor& x) {
  return row_wise(backend, "softmax", x,
                  [&](const Tensor& rows, const Tensor& out) { backend.softmax(rows, out); });
}

Tensor log_softmax(Backend& backend, const Tensor& x) {
  return row_wise(backend, "log_softmax", x,
                  [&](const Tensor& rows, const Tensor& out) { backend.log_softmax(rows, out); });
}

Tensor unary(Backend& backend, UnaryOp op, const Tensor& x) {
  return row_wise(backend, "unary", x,
                  [&](const Tensor& rows, const Tensor& out) { backend.unary(op, rows, out); });
}

Tensor relu(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Relu, x);
}

Tensor gelu(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Gelu, x);
}

Tensor gelu_tanh(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::GeluTanh, x);
}

Tensor silu(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Silu, x);
}

Tensor sigmoid(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Sigmoid, x);
}

Tensor tanh(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Tanh, x);
}

Tensor exp(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Exp, x);
}

Tensor log(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Log, x);
}

Tensor sqrt(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Sqrt, x);
}

Tensor negate(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Negate, x);
}

Tensor abs(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Abs, x);
}

Tensor softplus(Backend& backend, const Tensor& x) {
  return unary(backend, UnaryOp::Softplus, x);
}

Tensor binary(Backend& backend, BinaryOp op, const Tensor& a, const Tensor& b) {
  expect_type(backend, "binary", "b", b);
  const bool one_row =
      b.elements() == last_dim(a) && (b.rank() == 1 || (b.rank() == 2 && b.dim(0) == 1));
  MYNAH_CHECK(b.shape() == a.shape() || b.elements() == 1 || one_row, "[binary] b must be ",
              a.shape().str(), ", its last dimension or one element, got ", b.shape().str());
  return row_wise(backend, "binary", a, [&](const Tensor& rows, const Tensor& out) {
    backend.binary(op, rows, as_rows(backend, b), out);
  });
}

Tensor add(Backend& backend, const Tensor& a, const Tensor& b) {
  return binary(backend, BinaryOp::Add, a, b);
}

Tensor sub(Backend& backend, const Tensor& a, const Tensor& b) {
  return binary(backend, BinaryOp::Subtract, a, b);
}

Tensor mul(Backend& backend, const Tensor& a, const Tensor& b) {
  return binary(backend, BinaryOp::Multiply, a, b);
}

Tensor div(Backend& backend, const Tensor& a, const Tensor& b) {
  return binary(backend, BinaryOp::Divide, a, b);
}

Tensor maximum(Backend& backend, const Tensor& a, const Tensor& b) {
  return binary(backend, BinaryOp::Maximum, a, b);
}

Tensor minimum(Backend& backend, const Tensor& a, const Tensor& b) {
  return binary(backend, BinaryOp::Minimum, a, b);
}

Tensor affine(Backend& backend, const Tensor& x, float scale, float shift) {
  return row_wise(backend, "affine", x, [&](const Tensor& rows, const Tensor& out) {
    backend.affine(rows, scale, shift, out);
  });
}

Tensor gated(Backend& backend, const Tensor& x, const GatedParams& params) {
  expect_type(backend, "gated", "x", x);
  MYNAH_CHECK(x.rank() >= 1 && x.dim(-1) % 2 == 0, "[gated] x must be (..., 2 d), got ",
              x.shape().str());
  MYNAH_CHECK(params.limit > 0 && params.scale > 0, "[gated] a limit of ",
              std::to_string(params.limit), ", a scale of ", std::to_string(params.scale));
  std::vector<int64_t> sizes(x.shape().sizes().begin(), x.shape().sizes().end());
  sizes.back() /= 2;
  Tensor out = empty(backend, Shape(sizes));
  if (out.elements() > 0) {
    backend.gated(as_rows(backend, x), params, as_rows(backend, out));
  }
  return out;
}

Tensor leaky_relu(Backend& backend, const Tensor& x, float slope) {
  return row_wise(backend, "leaky_relu", x, [&](const Tensor& rows, const Tensor& out) {
    backend.leaky_relu(rows, slope, out);
  });
}

Tensor snake(Backend& backend, const Tensor& x, const Tensor& alpha) {
  expect(backend, "snake", "alpha", alpha, {last_dim(x)});
  return row_wise(backend, "snake", x,
                  [&](const Tensor& rows, const Tensor& out) { backend.snake(rows, alpha, out); });
}

Tensor dequantize(Backend& backend, const Tensor& x) {
  expect_type(backend, "dequantize", "x", x, x.dtype());
  Tensor out = empty(backend, x.shape());
  if (out.elements() > 0) {
    backend.dequantize(as_rows(backend, x), as_rows(backend, out));
  }
  return out;
}

Tensor gather_rows(Backend& backend, const Tensor& x, const Tensor& rows) {
  MYNAH_CHECK(!is_block_type(x.dtype()), "[gather_rows] x must be a plain type, got ",
              name(x.dtype()));
  expect(backend, "gather_rows", "x", x, {"m", "d"}, x.dtype());
  expect(backend, "gather_rows", "rows", rows, {"n"}, DType::I32);
  Tensor out = empty(backend, {rows.dim(0), x.dim(1)}, x.dtype());
  if (out.elements() > 0) {
    backend.gather_rows(x, rows, out);
  }
  return out;
}

void scatter_rows(Backend& backend, const Tensor& x, const Tensor& rows, const Tensor& out) {
  expect(backend, "scatter_rows", "x", x, {"n", "d"});
  expect(backend, "scatter_rows", "rows", rows, {x.dim(0)}, DType::I32);
  expect_cache_type("scatter_rows", "out", out);
  expect(backend, "scatter_rows", "out", out, {"m", x.dim(1)}, out.dtype());
  if (x.elements() > 0) {
    backend.scatter_rows(x, rows, out);
  }
}

Tensor transpose(Backend& backend, const Tensor& x) {
  expect(backend, "transpose", "x", x, {"m", "n"});
  Tensor out = empty(backend, {x.dim(1), x.dim(0)});
  if (out.elements() > 0) {
    backend.transpose(x, out);
  }
  return out;
}

Tensor reduce(Backend& backend, Reduction op, const Tensor& x) {
  return reduced(backend, "reduce", x, DType::F32,
                 [&](const Tensor& rows, const Tensor& out) { backend.reduce(op, rows, out); });
}

Tensor sum(Backend& backend, const Tensor& x) {
  return reduce(backend, Reduction::Sum, x);
}

Tensor mean(Backend& backend, const Tensor& x) {
  return reduce(backend, Reduction::Mean, x);
}

Tensor max(Backend& backend, const Tensor& x) {
  return reduce(backend, Reduction::Max, x);
}

Tensor argmax(Backend& backend, const Tensor& x) {
  return reduced(backend, "argmax", x, DType::I32,
                 [&](const Tensor& rows, const Tensor& out) { backend.argmax(rows, out); });
}

Tensor cumsum(Backend& backend, const Tensor& x) {
  return row_wise(backend, "cumsum", x,
                  [&](const Tensor& rows, const Tensor& out) { backend.cumsum(rows, out); });
}

Tensor median_filter(Backend& backend, const Tensor& x, int64_t width) {
  MYNAH_CHECK(width >= 1 && width % 2 == 1, "[median_filter] width must be odd, got ",
              std::to_string(width));
  return row_wise(backend, "median_filter", x, [&](const Tensor& rows, const Tensor& out) {
    backend.median_filter(rows, width, out);
  });
}

}  // namespace mynah::ops
