// Attention, its probabilities, and rotary positions.
#include "ops/expect.h"
#include "ops/ops.h"

namespace mynah::ops {
namespace {

// Size of a head; checks heads against q's width.
int64_t head_size(const char* op, const Tensor& q, const AttentionParams& params) {
  MYNAH_CHECK(params.heads >= 1 && params.kv_heads >= 1 && params.heads % params.kv_heads == 0, "[",
              op, "] ", std::to_string(params.heads), " heads over ",
              std::to_string(params.kv_heads), " heads of keys");
  MYNAH_CHECK(q.dim(1) % params.heads == 0, "[", op, "] q of ", q.shape().str(), " in ",
              std::to_string(params.heads), " heads");
  return q.dim(1) / params.heads;
}

void expect_inside(const char* op, std::span<const Span> spans, int64_t rows) {
  for (const Span& span : spans) {
    MYNAH_CHECK(span.begin >= 0 && span.length >= 0 && span.end() <= rows, "[", op, "] keys [",
                std::to_string(span.begin), ", ", std::to_string(span.end()), ") outside ",
                std::to_string(rows), " rows");
  }
}

void expect_tail(const Backend& backend, const AttentionParams& params, const Tensor& k) {
  if (params.tail_k == nullptr && params.tail_v == nullptr) {
    return;
  }
  MYNAH_CHECK(params.tail_k != nullptr && params.tail_v != nullptr,
              "[attention] wants tail_k and tail_v together");
  MYNAH_CHECK(!params.causal, "[attention] a causal attention has no tail");
  expect(backend, "attention", "tail_k", *params.tail_k, {"rows", k.dim(1)}, k.dtype());
  expect(backend, "attention", "tail_v", *params.tail_v, {params.tail_k->dim(0), k.dim(1)},
         k.dtype());
}

}  // namespace

Tensor attention(Backend& backend, const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionParams& params) {
  expect(backend, "attention", "q", q, {"rows", "heads * d"});
  const int64_t width = head_size("attention", q, params) * params.kv_heads;
  expect_float("attention", "k", k);
  expect(backend, "attention", "k", k, {"kv_rows", width}, k.dtype());
  expect(backend, "attention", "v", v, {k.dim(0), width}, k.dtype());
  MYNAH_CHECK(params.queries.size() == params.keys.size(), "[attention] ",
              std::to_string(params.queries.size()), " spans of queries, ",
              std::to_string(params.keys.size()), " of keys");
  expect_consecutive("attention", "queries", params.queries, q.dim(0));
  expect_inside("attention", params.keys, k.dim(0));
  expect_tail(backend, params, k);
  Tensor out = empty(backend, q.shape());
  if (out.elements() > 0) {
    backend.attention(q, k, v, params, out);
  }
  return out;
}

Tensor attention_probabilities(Backend& backend, const Tensor& q, const Tensor& k,
                               const AttentionParams& params) {
  const char* op = "attention_probabilities";
  expect(backend, op, "q", q, {"rows", "heads * d"});
  expect_float(op, "k", k);
  expect(backend, op, "k", k, {"kv_rows", head_size(op, q, params) * params.kv_heads}, k.dtype());
  MYNAH_CHECK(params.queries.size() == 1 && params.keys.size() == 1, "[", op,
              "] wants one utterance");
  MYNAH_CHECK(params.tail_k == nullptr && params.tail_v == nullptr, "[", op, "] takes no tail");
  const Span queries = params.queries[0];
  MYNAH_CHECK(queries.begin >= 0 && queries.end() <= q.dim(0), "[", op, "] queries outside q");
  expect_inside(op, params.keys, k.dim(0));
  Tensor out = empty(backend, {params.heads, queries.length, params.keys[0].length});
  if (out.elements() > 0) {
    backend.attention_probabilities(q, k, params, out);
  }
  return out;
}

Tensor rope(Backend& backend, const Tensor& x, const Tensor& positions, int64_t heads,
            float theta) {
  expect(backend, "rope", "x", x, {"rows", "heads * d"});
  expect(backend, "rope", "positions", positions, {x.dim(0)}, DType::I32);
  MYNAH_CHECK(heads >= 1 && x.dim(1) % (2 * heads) == 0, "[rope] x of ", x.shape().str(), " in ",
              std::to_string(heads), " heads of pairs");
  Tensor out = empty(backend, x.shape());
  if (out.elements() > 0) {
    backend.rope(x, positions, heads, theta, out);
  }
  return out;
}

}  // namespace mynah::ops
