// Products: linear, matmul, conv1d, embedding, lstm.
#include "ops/conv_input.h"
#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {
namespace {

void expect_epilogue(const Backend& backend, const char* op, const Tensor* bias,
                     const Tensor* residual, int64_t rows, int64_t out_features) {
  if (bias != nullptr) {
    expect(backend, op, "bias", *bias, {out_features});
  }
  if (residual != nullptr) {
    expect(backend, op, "residual", *residual, {rows, out_features});
  }
}

}  // namespace

Tensor linear(Backend& backend, const Tensor& x, const LinearWeight& w,
              const LinearParams& params) {
  MYNAH_CHECK(w.defined(), "[linear] w is not defined");
  expect(backend, "linear", "x", x, {"rows", w.in_features});
  expect_epilogue(backend, "linear", params.bias, params.residual, x.dim(0), w.out_features);
  Tensor out = empty(backend, {x.dim(0), w.out_features});
  if (out.elements() > 0) {
    backend.linear(x, w, params, out);
  }
  return out;
}

Tensor routed_linear(Backend& backend, const Tensor& x, const Tensor& routes,
                     const ExpertWeights& w, const RoutedParams& params) {
  const char* op = "routed_linear";
  MYNAH_CHECK(w.defined(), "[routed_linear] w is not defined");
  expect(backend, op, "routes", routes, {"rows", "k"}, DType::I32);
  expect(backend, op, "x", x, {"rows", w.in_features});
  MYNAH_CHECK(x.dim(0) == routes.dim(0) || x.dim(0) == routes.elements(), "[", op, "] x of ",
              x.shape().str(), " for routes ", routes.shape().str());
  if (params.bias != nullptr) {
    expect(backend, op, "bias", *params.bias, {w.experts, w.out_features});
  }
  Tensor out = empty(backend, {routes.elements(), w.out_features});
  if (out.elements() > 0) {
    backend.routed_linear(x, contiguous(backend, routes), w, params, out);
  }
  return out;
}

Tensor matmul(Backend& backend, const Tensor& a, const Tensor& b, bool transpose_b) {
  expect(backend, "matmul", "a", a, {"batch", "m", "k"});
  if (transpose_b) {
    expect(backend, "matmul", "b", b, {a.dim(0), "n", a.dim(2)});
  } else {
    expect(backend, "matmul", "b", b, {a.dim(0), a.dim(2), "n"});
  }
  Tensor out = empty(backend, {a.dim(0), a.dim(1), b.dim(transpose_b ? 1 : 2)});
  if (out.elements() > 0) {
    backend.matmul(a, b, transpose_b, out);
  }
  return out;
}

Lengths conv1d_lengths(const Lengths& lengths, const Conv1dParams& params) {
  Lengths out;
  for (const Span& span : lengths.spans()) {
    out.add(params.out_rows(span.length));
  }
  return out;
}

Tensor conv1d(Backend& backend, const Tensor& x, const Lengths& lengths, const LinearWeight& w,
              const Conv1dParams& params) {
  MYNAH_CHECK(w.defined(), "[conv1d] w is not defined");
  MYNAH_CHECK(params.kernel >= 1 && params.stride >= 1 && params.dilation >= 1 &&
                  params.groups >= 1 && params.padding_left >= 0 && params.padding_right >= 0,
              "[conv1d] kernel, stride, dilation and groups must be positive");
  MYNAH_CHECK(w.in_features % params.kernel == 0, "[conv1d] w is not of kernel ",
              std::to_string(params.kernel));
  expect(backend, "conv1d", "x", x,
         {lengths.total(), w.in_features / params.kernel * params.groups});
  int64_t rows = 0;
  for (const Span& span : lengths.spans()) {
    rows += params.out_rows(span.length);
  }
  expect_input(backend, "conv1d", params.input, lengths, x.dim(1));
  expect_epilogue(backend, "conv1d", params.bias, params.residual, rows, w.out_features);
  Tensor out = empty(backend, {rows, w.out_features});
  if (out.elements() > 0) {
    backend.conv1d(x, lengths, w, params, out);
  }
  return out;
}

Tensor embedding(Backend& backend, const Tensor& table, const Tensor& ids) {
  if (!is_block_type(table.dtype())) {
    expect_float("embedding", "table", table);
  }
  expect(backend, "embedding", "table", table, {"vocabulary", "d"}, table.dtype());
  expect(backend, "embedding", "ids", ids, {"n"}, DType::I32);
  Tensor out = empty(backend, {ids.dim(0), table.dim(1)});
  if (out.elements() > 0) {
    backend.embedding(table, ids, out);
  }
  return out;
}

Tensor lstm(Backend& backend, const Tensor& x, const Lengths& lengths, const LinearWeight& w_ih,
            const LinearWeight& w_hh, const Tensor& bias, const LstmParams& params, const Tensor& h,
            const Tensor& c) {
  const int64_t hidden = w_hh.in_features;
  MYNAH_CHECK(w_ih.defined() && w_hh.defined(), "[lstm] a weight is not defined");
  MYNAH_CHECK(w_ih.out_features == 4 * hidden && w_hh.out_features == 4 * hidden,
              "[lstm] weights must have ", std::to_string(4 * hidden), " rows, got ",
              std::to_string(w_ih.out_features), " and ", std::to_string(w_hh.out_features));
  expect(backend, "lstm", "x", x, {lengths.total(), w_ih.in_features});
  expect(backend, "lstm", "bias", bias, {4 * hidden});
  expect(backend, "lstm", "h", h, {lengths.count(), hidden});
  expect(backend, "lstm", "c", c, {lengths.count(), hidden});
  Tensor out = empty(backend, {x.dim(0), hidden});
  if (out.elements() > 0) {
    backend.lstm(x, lengths, w_ih, w_hh, bias, params, h, c, out);
  }
  return out;
}

}  // namespace mynah::ops
