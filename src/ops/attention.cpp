// Attention, its probabilities, and rotary positions.
#include <bit>

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

void expect_inside(const char* op, const AttentionParams& params, int64_t rows) {
  const PageTable& table = params.pages;
  if (table.rows > 0) {
    MYNAH_CHECK(std::has_single_bit(static_cast<uint64_t>(table.rows)), "[", op, "] pages of ",
                std::to_string(table.rows), " rows: a power of two is wanted");
    for (const int32_t page : table.pages) {
      MYNAH_CHECK(page >= 0 && (page + 1) * table.rows <= rows, "[", op, "] page ",
                  std::to_string(page), " of ", std::to_string(rows / table.rows));
    }
    rows = std::ssize(table.pages) * table.rows;
  }
  for (const Span& span : params.keys) {
    MYNAH_CHECK(span.begin >= 0 && span.length >= 0 && span.end() <= rows, "[", op, "] keys [",
                std::to_string(span.begin), ", ", std::to_string(span.end()), ") outside ",
                std::to_string(rows), " rows");
    MYNAH_CHECK(table.rows == 0 || span.begin % table.rows == 0, "[", op,
                "] keys that begin at row ", std::to_string(span.begin), " of pages of ",
                std::to_string(table.rows));
  }
}

void expect_packed(const Backend& backend, const char* op, const char* argument,
                   const KeysValues& packed, int64_t heads, int64_t head_dim) {
  MYNAH_CHECK(packed.heads >= 1 && heads % packed.heads == 0 && packed.head_dim == head_dim, "[",
              op, "] ", argument, " of ", std::to_string(packed.heads), " heads of ",
              std::to_string(packed.head_dim), " for ", std::to_string(heads), " heads of ",
              std::to_string(head_dim));
  expect_type(backend, op, argument, packed.data, DType::U8);
}

}  // namespace

Tensor attention(Backend& backend, const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionParams& params) {
  expect(backend, "attention", "q", q, {"rows", "heads * d"});
  const int64_t width = head_size("attention", q, params) * params.kv_heads;
  expect_cache_type("attention", "k", k);
  MYNAH_CHECK(!is_block_type(k.dtype()) || width / params.kv_heads % block_elements(k.dtype()) == 0,
              "[attention] heads of ", std::to_string(width / params.kv_heads),
              " columns split blocks of ", name(k.dtype()));
  expect(backend, "attention", "k", k, {"kv_rows", width}, k.dtype());
  expect(backend, "attention", "v", v, {k.dim(0), width}, k.dtype());
  MYNAH_CHECK(params.queries.size() == params.keys.size(), "[attention] ",
              std::to_string(params.queries.size()), " spans of queries, ",
              std::to_string(params.keys.size()), " of keys");
  MYNAH_CHECK(params.window >= 0 && (params.window == 0 || params.causal),
              "[attention] a window of ", std::to_string(params.window), " keys",
              params.causal ? "" : " of queries that see what comes after them");
  MYNAH_CHECK(params.score_cap >= 0.0F, "[attention] a cap of ", std::to_string(params.score_cap));
  if (params.sinks != nullptr) {
    expect(backend, "attention", "sinks", *params.sinks, {params.heads});
  }
  expect_consecutive("attention", "queries", params.queries, q.dim(0));
  expect_inside("attention", params, k.dim(0));
  Tensor out = empty(backend, q.shape());
  if (out.elements() > 0) {
    backend.attention(q, k, v, params, out);
  }
  return out;
}

KeysValues pack_keys_values(Backend& backend, const Tensor& k, const Tensor& v, int64_t heads,
                            Precision precision) {
  const char* op = "pack_keys_values";
  expect_float(op, "k", k);
  expect(backend, op, "k", k, {"rows", "heads * d"}, k.dtype());
  expect(backend, op, "v", v, {k.dim(0), k.dim(1)}, k.dtype());
  MYNAH_CHECK(heads >= 1 && k.dim(1) % heads == 0, "[", op, "] k of ", k.shape().str(), " in ",
              std::to_string(heads), " heads");
  return backend.pack_keys_values(k, v, heads, precision);
}

Tensor attention_packed(Backend& backend, const Tensor& q, const PackedAttentionParams& params) {
  const char* op = "attention_packed";
  expect(backend, op, "q", q, {"rows", "heads * d"});
  MYNAH_CHECK(params.heads >= 1 && q.dim(1) % params.heads == 0, "[", op, "] q of ",
              q.shape().str(), " in ", std::to_string(params.heads), " heads");
  MYNAH_CHECK(params.queries.size() == params.keys.size(), "[", op, "] ",
              std::to_string(params.queries.size()), " readers, ",
              std::to_string(params.keys.size()), " keys");
  expect_consecutive(op, "queries", params.queries, q.dim(0));
  const int64_t head_dim = q.dim(1) / params.heads;
  for (const KeysValues* keys : params.keys) {
    expect_packed(backend, op, "keys", *keys, params.heads, head_dim);
  }
  if (params.tail != nullptr) {
    expect_packed(backend, op, "tail", *params.tail, params.heads, head_dim);
    for (const KeysValues* keys : params.keys) {
      MYNAH_CHECK(params.tail_group >= 1 && keys->heads == params.tail->heads &&
                      keys->precision == params.tail->precision &&
                      (keys->rows % params.tail_group == 0 ||
                       keys->rows >= params.tail->rows * params.tail_group),
                  "[", op, "] ", std::to_string(keys->rows),
                  " keys before a tail of another kind, in groups of ",
                  std::to_string(params.tail_group));
    }
  }
  Tensor out = empty(backend, q.shape());
  if (out.elements() > 0) {
    backend.attention_packed(q, params, out);
  }
  return out;
}

Tensor attention_probabilities(Backend& backend, const Tensor& q, const KeysValues& keys,
                               int64_t positions, int64_t heads, float scale) {
  const char* op = "attention_probabilities";
  expect(backend, op, "q", q, {"rows", "heads * d"});
  MYNAH_CHECK(heads >= 1 && q.dim(1) % heads == 0, "[", op, "] q of ", q.shape().str(), " in ",
              std::to_string(heads), " heads");
  expect_packed(backend, op, "keys", keys, heads, q.dim(1) / heads);
  MYNAH_CHECK(positions >= 0 && positions <= keys.rows, "[", op, "] ", std::to_string(positions),
              " positions of ", std::to_string(keys.rows));
  Tensor out = empty(backend, {heads, q.dim(0), positions});
  if (out.elements() > 0) {
    backend.attention_probabilities(q, keys, heads, scale, out);
  }
  return out;
}

Tensor rope(Backend& backend, const Tensor& x, const Tensor& turns, int64_t heads,
            RopePairs pairs) {
  expect(backend, "rope", "x", x, {"rows", "heads * d"});
  expect(backend, "rope", "turns", turns, {x.dim(0), "2 pairs"});
  MYNAH_CHECK(heads >= 1 && x.dim(1) % heads == 0 && turns.dim(1) % 2 == 0 &&
                  turns.dim(1) <= x.dim(1) / heads,
              "[rope] x of ", x.shape().str(), " in ", std::to_string(heads), " heads of ",
              std::to_string(turns.dim(1) / 2), " pairs");
  Tensor out = empty(backend, x.shape());
  if (out.elements() > 0) {
    backend.rope(x, turns, heads, pairs, out);
  }
  return out;
}

}  // namespace mynah::ops
