// What the kernels of products are given, and the sizes that they and their launches agree on.
#pragma once

#include "backend/cuda/kernels/views.h"
#include "backend/cuda/kernels/weight_layout.h"

namespace mynah::simt {

// tensor/op_params.h's Activation, in its order.
enum class Activation : uint8_t { None, Relu, Gelu, GeluTanh, Silu, Sigmoid, Tanh };

// activation(sum * scales + bias) + residual -> out (rows, columns).
struct Finish {
  const float* bias;  // (columns); may be null
  Rows residual;      // data may be null
  OutRows out;
  int64_t rows;
  int64_t columns;
  Activation activation;
  bool aligned;  // rows of residual and out, for accesses of 16 bytes
};

inline constexpr int kWarpThreads = 32;

// A tile of a product: what one block computes.
inline constexpr int kTileRows = 64;
inline constexpr int kTileColumns = 64;
inline constexpr int kTileThreads = 128;

// The kernels for few rows: of rows that a block takes, of its warps at most, and of the chunks
// that a warp takes at once, eight lanes each.
inline constexpr int kFewRows = 8;
inline constexpr int kFewRowsWarps = 8;
inline constexpr int kFewRowsChunks = 4;

// Rows of activations as int8: value = code * scale of the row.
struct CodedRows {
  uint8_t* codes;  // (rows, chunks, 32) int8, zeros after the last
  float* sums;     // (rows, chunks, 2): of the codes of each half chunk
  float* scales;   // (rows)
};

// x (rows, in) W^T. The int8 kernel of many rows reads `coded` instead of x; that of few rows does
// where it is there, and otherwise rounds x itself.
struct LinearArgs {
  Rows x;
  int64_t in;
  bool aligned;  // rows of x, for accesses of 16 bytes
  CodedRows coded;
  int panels;  // that a block of a kernel for few rows takes
  Weights weights;
  Finish finish;
};

// An utterance's rows, and its first row of the result.
struct Utterance {
  int64_t begin;
  int64_t length;
  int64_t out_begin;
};

// The windows of a convolution: row t of an utterance's result sees the rows t * stride -
// padding + tap * dilation of its x, and of each `channels` columns.
struct Windows {
  const Utterance* utterances;  // those with a result
  int64_t count;
  Rows x;
  int64_t rows;  // of the result
  int channels;  // of a group
  int kernel;
  int stride;
  int padding;
  int dilation;
  bool aligned;  // four channels from a multiple of four on, for accesses of 16 bytes
};

struct Conv1dArgs {
  Windows windows;
  Weights weights;  // elements in order (tap, channel)
  Storage storage;  // what conv1d_grouped reads
  int64_t group_columns;
  Finish finish;
};

// Rows, or windows, to int8.
struct QuantizeArgs {
  Rows x;
  Windows windows;
  int64_t rows;
  int64_t in;
  CodedRows coded;
};

// a (batch, rows, k) and b (batch, k, columns), or transposed (batch, columns, k).
struct MatmulArgs {
  Rows a;
  Rows b;
  int64_t a_batch;  // strides
  int64_t b_batch;
  int64_t out_batch;
  int row_tiles;  // of one matrix of the batch
  int64_t k;
  bool a_aligned;
  bool b_aligned;
  Finish finish;
};

// Columns that a block of table_rows takes.
inline constexpr int kTableColumns = 1024;

// Rows of a table of any type, or its rows `ids`, as f32.
struct TableArgs {
  const uint8_t* table;
  int64_t row_bytes;
  int64_t table_rows;
  const int32_t* ids;  // null: every row
  uint64_t* fault;     // row_faults.h: the word
  OutRows out;
  int64_t rows;
  int64_t columns;
  Storage storage;
};

// A block's shared memory in a kernel for few rows, in elements of four bytes.
struct FewRowsMemory {
  int rows;
  int chunks;  // at once
  int panels;

  // Chunks of x are 36 apart so that the four that a warp reads at once are in other banks.
  static constexpr int kFloatChunk = kChunk + 4;
  static constexpr int kCodeWords = kChunk / 4;

  [[nodiscard]] constexpr int results() const { return panels * rows * kPanel; }

  // The results' sums of one chunk: 8 more than a multiple of 32, for the same reason.
  [[nodiscard]] constexpr int sums_apart() const { return (results() + 31) / 32 * 32 + kPanel; }

  [[nodiscard]] constexpr int sums() const { return chunks * sums_apart(); }

  // x, then sums.
  [[nodiscard]] constexpr int float_elements() const {
    return rows * chunks * kFloatChunk + sums();
  }

  // Codes, sums, rows' scales and what they are multiplied by.
  [[nodiscard]] constexpr int int8_elements() const {
    return rows * chunks * kCodeWords + sums() + 2 * kFewRows;
  }
};

}  // namespace mynah::simt
