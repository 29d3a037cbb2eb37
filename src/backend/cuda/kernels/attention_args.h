// What the kernels of attention are given.
#pragma once

#include "backend/cuda/kernels/views.h"

namespace mynah::simt {

// As AttentionArgs::window: more keys than there ever are.
inline constexpr int kNoWindow = 1 << 30;

// Lines that a block of attention_tiled_* takes, and of attention_few_*.
inline constexpr int kTiledLines = 32;
inline constexpr int kFewLines = 8;

// Lines that a block of attention_units_* takes, of the kernel for heads of up to so many columns.
constexpr int units_lines(int columns) {
  return columns <= 64 ? 128 : 64;
}

// Keys that a block of attention_one_* and _few_* takes: a segment, a quarter of it each of its
// four warps.
inline constexpr int kSegmentKeys = 128;
inline constexpr int kSplitWarps = 4;

// Slices of its keys that a warp of theirs has in dynamic shared memory, and the bytes of each: by
// the level of the kernels' program.
constexpr int split_slices(int level) {
  return level >= 80 ? 2 : 1;
}

constexpr int split_slice_bytes(int level) {
  return 32 * (level >= 80 ? 128 : 144);
}

// A tile is a few lines of queries that see the same keys; a line is one head of one query. The
// heads that share a head of keys stand side by side: line l of a tile is head (skip + l) % group
// of query (skip + l) / group of the tile.
struct AttentionTile {
  const void* keys;  // the utterance's own, row 0 of head 0
  const void* values;
  int64_t head_stride;  // elements from a head of keys to the next
  int32_t own;          // keys of the utterance's own
  int32_t tail_first;   // first row of the tail that is seen
  int32_t tail;         // rows of the tail that are seen
  int32_t seen;         // keys that the first query sees; each later one sees `causal` more
  int32_t first_row;    // in `rows`: the first query's row of q
  int32_t skip;         // heads of the first query that other tiles have
  int32_t lines;
  // Where in `pages` those of the utterance's own begin, whose rows are counted from `keys` on; -1:
  // they follow each other.
  int32_t first_page;
};

// A block takes a tile (x) and a head of keys (y).
struct AttentionArgs {
  const AttentionTile* tiles;
  const int32_t* rows;  // of q and out, tile by tile
  const int32_t* pages;
  const float* q;
  int64_t q_stride;
  float* out;
  int64_t out_stride;
  // Elements from a row of keys, of values, to the next, of the tail's too. Rows begin at multiples
  // of 16 bytes and are as long.
  int32_t key_stride;
  int32_t value_stride;
  const void* tail_keys;  // null: no tail
  const void* tail_values;
  int64_t tail_head_stride;
  int32_t head_dim;
  int32_t width;  // columns of a row of keys: head_dim, or more that are zero
  int32_t kv_heads;
  int32_t group;       // heads of q that share a head of keys
  float scale;         // of the dot products, times log2(e)
  float score_cap;     // scores become cap * tanh(score / cap), times log2(e); 0: they do not
  const float* sinks;  // of each head of q, what its sink scores; null: there are none
  float tail_score;    // added to the tail's scores: log2 of the positions that a row stands for
  int32_t causal;      // 1: each query sees one key more than the one before it
  int32_t window;      // keys that a query sees at most, the last ones
  int32_t page_bits;   // a page has 2^page_bits rows
  // Where segments of a tile are left for attention_merge: of each tile, head of keys, segment (z)
  // and line its sum of values (head_dim), and its mass.
  int32_t segments;  // of the longest tile
  float* partials;
  float* masses;
};

// A block takes a tile of queries (x) and a head (y): probabilities of `positions` keys.
struct ProbabilitiesArgs {
  const float* q;
  int64_t q_stride;
  const void* keys;  // row 0 of head 0, packed
  int64_t head_stride;
  float* out;  // (heads, queries, positions)
  int64_t out_head_stride;
  int64_t out_query_stride;
  int32_t queries;
  int32_t positions;
  int32_t head_dim;
  int32_t width;
  int32_t group;
  float scale;
};

// Keys (y = 0) or values (y = 1) of one utterance to their packed layout: head by head, rows of
// `width` elements, those from head_dim on zero. A thread an element.
struct PackKeysArgs {
  const void* keys;
  const void* values;
  int64_t key_stride;
  int64_t value_stride;
  void* out;
  int32_t rows;
  int32_t heads;
  int32_t head_dim;
  int32_t width;
};

// A thread a pair of columns, first those that are turned and then those that are not.
struct RopeArgs {
  Rows x;
  OutRows out;
  Rows turns;  // a row's cosines, then its sines
  int64_t rows;
  int32_t heads;
  int32_t columns;     // of a head
  int32_t pairs;       // of a head, that are turned
  int32_t neighbours;  // 1: columns 2 i and 2 i + 1; 0: i and i + pairs
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_ATTENTION_KERNELS(X)                                           \
  X(attention_tiled_f32, attention_tiled_f32_64, AttentionArgs)              \
  X(attention_tiled_f32, attention_tiled_f32_128, AttentionArgs)             \
  X(attention_tiled_f32, attention_tiled_f32_256, AttentionArgs)             \
  X(attention_tiled_f16, attention_tiled_f16_64, AttentionArgs)              \
  X(attention_tiled_f16, attention_tiled_f16_128, AttentionArgs)             \
  X(attention_tiled_f16, attention_tiled_f16_256, AttentionArgs)             \
  X(attention_tiled_bf16, attention_tiled_bf16_64, AttentionArgs)            \
  X(attention_tiled_bf16, attention_tiled_bf16_128, AttentionArgs)           \
  X(attention_tiled_bf16, attention_tiled_bf16_256, AttentionArgs)           \
  X(units_attention_f16, attention_units_f16_64, AttentionArgs)              \
  X(units_attention_f16, attention_units_f16_128, AttentionArgs)             \
  X(units_attention_bf16, attention_units_bf16_64, AttentionArgs)            \
  X(units_attention_bf16, attention_units_bf16_128, AttentionArgs)           \
  X(attention_split_f32, attention_one_f32, AttentionArgs)                   \
  X(attention_split_f16, attention_one_f16, AttentionArgs)                   \
  X(attention_split_bf16, attention_one_bf16, AttentionArgs)                 \
  X(attention_split_f32, attention_few_f32, AttentionArgs)                   \
  X(attention_split_f32, attention_one_paged_f32, AttentionArgs)             \
  X(attention_split_f32, attention_few_paged_f32, AttentionArgs)             \
  X(attention_split_f16, attention_few_f16, AttentionArgs)                   \
  X(attention_split_f16, attention_one_paged_f16, AttentionArgs)             \
  X(attention_split_f16, attention_few_paged_f16, AttentionArgs)             \
  X(attention_split_bf16, attention_few_bf16, AttentionArgs)                 \
  X(attention_split_bf16, attention_one_paged_bf16, AttentionArgs)           \
  X(attention_split_bf16, attention_few_paged_bf16, AttentionArgs)           \
  X(attention_split_q8_0, attention_one_q8_0, AttentionArgs)                 \
  X(attention_split_q8_0, attention_few_q8_0, AttentionArgs)                 \
  X(attention_merge, attention_merge_one, AttentionArgs)                     \
  X(attention_merge, attention_merge_few, AttentionArgs)                     \
  X(attention_probabilities, attention_probabilities_f32, ProbabilitiesArgs) \
  X(attention_probabilities, attention_probabilities_f16, ProbabilitiesArgs) \
  X(keys_values, pack_keys_f32_f32, PackKeysArgs)                            \
  X(keys_values, pack_keys_f16_f32, PackKeysArgs)                            \
  X(keys_values, pack_keys_bf16_f32, PackKeysArgs)                           \
  X(keys_values, pack_keys_f32_f16, PackKeysArgs)                            \
  X(keys_values, pack_keys_f16_f16, PackKeysArgs)                            \
  X(keys_values, pack_keys_bf16_f16, PackKeysArgs)                           \
  X(rope, rope, RopeArgs)
