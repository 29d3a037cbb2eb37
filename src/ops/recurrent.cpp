// Recurrent operations of utterances that go on: their states lie in rows of a tensor.
#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {
namespace {

void expect_states(const Backend& backend, const char* op, const Lengths& lengths,
                   const Tensor& slots, const Tensor& states, int64_t columns) {
  expect(backend, op, "slots", slots, {lengths.count()}, DType::I32);
  expect(backend, op, "states", states, {"m", columns});
}

}  // namespace

Tensor short_conv(Backend& backend, const Tensor& x, const Lengths& lengths, const Tensor& w,
                  Activation activation, const Tensor& slots, const Tensor& states) {
  expect(backend, "short_conv", "x", x, {lengths.total(), "d"});
  expect(backend, "short_conv", "w", w, {"taps", x.dim(1)});
  MYNAH_CHECK(w.dim(0) >= 2 && w.dim(0) <= kMostTaps && w.contiguous(),
              "[short_conv] w must be contiguous, of 2 to ", std::to_string(kMostTaps),
              " taps, got ", std::to_string(w.dim(0)));
  expect_states(backend, "short_conv", lengths, slots, states, (w.dim(0) - 1) * x.dim(1));
  Tensor out = empty(backend, x.shape());
  if (out.elements() > 0) {
    backend.short_conv(x, lengths, w, activation, slots, states, out);
  }
  return out;
}

Tensor delta_rule(Backend& backend, const Tensor& q, const Tensor& k, const Tensor& v,
                  const Lengths& lengths, const DeltaRuleParams& params, const Tensor& slots,
                  const Tensor& states) {
  MYNAH_CHECK(params.gates != nullptr && params.betas != nullptr,
              "[delta_rule] wants gates and betas");
  const int64_t rows = lengths.total();
  expect(backend, "delta_rule", "q", q, {rows, "key_heads * dk"});
  expect(backend, "delta_rule", "k", k, {rows, q.dim(1)});
  expect(backend, "delta_rule", "v", v, {rows, "heads * dv"});
  expect(backend, "delta_rule", "gates", *params.gates, {rows, params.heads});
  expect(backend, "delta_rule", "betas", *params.betas, {rows, params.heads});
  MYNAH_CHECK(params.key_heads >= 1 && params.heads >= 1 && params.heads % params.key_heads == 0 &&
                  q.dim(1) % params.key_heads == 0 && v.dim(1) % params.heads == 0,
              "[delta_rule] ", std::to_string(params.heads), " heads and ",
              std::to_string(params.key_heads), " of keys do not divide q ", q.shape().str(),
              " and v ", v.shape().str());
  const int64_t key_columns = q.dim(1) / params.key_heads;
  MYNAH_CHECK(key_columns >= 1 && key_columns <= kMostDeltaKeys, "[delta_rule] a key has 1 to ",
              std::to_string(kMostDeltaKeys), " columns, got ", std::to_string(key_columns));
  expect_states(backend, "delta_rule", lengths, slots, states, key_columns * v.dim(1));
  Tensor out = empty(backend, v.shape());
  if (out.elements() > 0) {
    backend.delta_rule(q, k, v, lengths, params, slots, states, out);
  }
  return out;
}

}  // namespace mynah::ops
