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
inline constexpr int kFewRowsPanels = 4;  // of a block at most

// Rows of activations as int8: value = code * scale. Where weights are in blocks, each chunk has a
// scale of its own, else each row.
struct CodedRows {
  // (rows, chunks, 32) int8, zeros after the last; or in panels of eight rows, as weights are.
  uint8_t* codes;
  float* sums;    // (rows, chunks, 2): of the codes of each half chunk
  float* scales;  // (rows, chunks), or (rows)
};

// x (rows, in) W^T. The int8 kernel of many rows reads `coded` instead of x (on matrix units, in
// panels); that of few rows does where it is there, and otherwise rounds x itself.
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
  bool aligned;    // rows of x, for accesses of 16 bytes
  bool in_panels;  // what matrix units read
  bool by_chunk;   // a scale for each chunk
  CodedRows coded;
};

// Rows, or windows, in half of f32's bits: in panels of eight, as weights are, or row after row.
// Zeros fill up the last panel, and the last chunk of a row.
struct PackArgs {
  Rows x;
  Windows windows;
  int64_t rows;
  int64_t in;
  bool aligned;  // rows of x, for accesses of 16 bytes
  bool in_panels;
  uint8_t* packed;
};

// Units of a row that is packed in half of f32's bits.
inline constexpr int kUnitElements = kUnitBytes / 2;

[[nodiscard]] constexpr int units_of_packed_row(int elements) {
  return (elements + kChunk - 1) / kChunk * (kChunk / kUnitElements);
}

// Whether a product on matrix units can read windows from x itself: taps are whole units, and
// enough of them that the next step of four is in the same tap or in the next one.
[[nodiscard]] constexpr bool read_in_place(const Windows& windows) {
  return windows.channels % kUnitElements == 0 && windows.channels >= kChunk;
}

// Steps of a tile that are in shared memory at once: as many as cover memory's latency where copies
// are on their way by themselves (level 80), otherwise one that is used and one that is filled.
[[nodiscard]] constexpr int units_stages(int level) {
  return level >= 80 ? 4 : 2;
}

// A tile of a product on matrix units: what a block computes. Of its warps each has kPairs pairs of
// panels of weights and kWarpRowPanels panels of rows.
template <int kColumnWarps_, int kRowWarps_, int kPairs_, int kWarpRowPanels_>
struct UnitsTile {
  static constexpr int kColumnWarps = kColumnWarps_;
  static constexpr int kPairs = kPairs_;
  static constexpr int kWarpRowPanels = kWarpRowPanels_;
  static constexpr int kWarps = kColumnWarps_ * kRowWarps_;
  static constexpr int kThreads = kWarps * kWarpThreads;
  static constexpr int kColumnPanels = kColumnWarps_ * kPairs_ * 2;
  static constexpr int kRowPanels = kRowWarps_ * kWarpRowPanels_;
  static constexpr int kColumns = kColumnPanels * kPanel;
  static constexpr int kRows = kRowPanels * kPanel;
  // A step, four units a row, of both sides.
  static constexpr int kStageWords = (kColumnPanels + kRowPanels) * 4 * kPanel * kUnitBytes / 4;

  // For results on their way out: a panel of rows for each warp.
  static constexpr int kResultWords = kWarps * kPanel * (kPairs_ * 2 * kPanel + 4);

  [[nodiscard]] static constexpr int shared_bytes(int level) {
    return units_stages(level) * kStageWords * 4;
  }
};

using UnitsTile128 = UnitsTile<2, 4, 4, 4>;
using UnitsTile64 = UnitsTile<2, 2, 2, 4>;

// The tile of level 90: two warpgroups (simt.h), each of 64 columns and all rows, and one more warp
// that copies. Stages of units of 16 bytes, as many as are summed from zero in half precision;
// three of them, 192 KiB, are what a block's memory holds.
inline constexpr int kWarpgroups = 2;
inline constexpr int kWarpgroupUnits = 16;
inline constexpr int kWarpgroupStages = 3;

struct WarpgroupTile : UnitsTile<8, 1, 1, 16> {
  static constexpr int kThreads = (kWarps + 1) * kWarpThreads;
  static constexpr int kPanelWords = kWarpgroupUnits * kPanel * kUnitBytes / 4;
  static constexpr int kStageWords = (kColumnPanels + kRowPanels) * kPanelWords;

  [[nodiscard]] static constexpr int shared_bytes(int /*level*/) {
    return kWarpgroupStages * kStageWords * 4;
  }
};

// Threads of a block of the kernels of tiles of 128 by 128, and its dynamic shared memory.
[[nodiscard]] constexpr int units_128_threads(int level) {
  return level >= 90 ? WarpgroupTile::kThreads : UnitsTile128::kThreads;
}

[[nodiscard]] constexpr int units_128_shared_bytes(int level) {
  return level >= 90 ? WarpgroupTile::shared_bytes(level) : UnitsTile128::shared_bytes(level);
}

// Threads, of several blocks, that kernels with 128 registers each leave room for.
inline constexpr int kUnitsThreadsAtOnce = 512;

// The kernels for few rows on matrix units: of rows, and of a block's warps, at most.
inline constexpr int kUnitsFewRows = 32;
inline constexpr int kUnitsFewRowsWarps = 16;

// Steps of four units that are summed in the unit, from zero: what one warp takes (units.h).
inline constexpr int kUnitsSumSteps = 4;
static_assert(kWarpgroupUnits == 4 * kUnitsSumSteps);

// x (rows, in) W^T on matrix units.
struct UnitsArgs {
  // The rows packed in panels. Null only in the kernel for few rows, of one panel at most: it
  // rounds x then. In kernels of convolutions: x packed row after row.
  const uint8_t* packed;
  Windows windows;          // in kernels of convolutions
  const float* row_scales;  // of codes
  Rows x;
  int64_t in;
  bool aligned;  // rows of x, for accesses of 16 bytes
  int panels;    // that a block of a kernel for few rows takes: 1 or 2
  Weights weights;
  Finish finish;
};

// A block's shared memory in the kernel for few rows on matrix units, in elements of four bytes:
// each warp's sums, and the totals.
struct UnitsFewMemory {
  int warps;
  int row_panels;

  static constexpr int kColumns = 2 * kPanel;
  // Of a row of sums: so that what the lanes of a warp write at once is in other banks.
  static constexpr int kApart = kColumns + 4;

  [[nodiscard]] static constexpr int place(int row, int column) { return row * kApart + column; }

  [[nodiscard]] constexpr int rows() const { return row_panels * kPanel; }

  [[nodiscard]] constexpr int results() const { return rows() * kApart; }

  [[nodiscard]] constexpr int elements() const { return (warps + 1) * results(); }
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

  // Codes, sums, then the scales of chunks, or those of rows and what they are multiplied by.
  [[nodiscard]] constexpr int int8_elements() const {
    return rows * chunks * kCodeWords + sums() + rows * chunks + 2 * kFewRows;
  }
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
// In f32, of any storage type.
#define MYNAH_PRODUCTS_OF(X, type)              \
  X(products_##type, linear_##type, LinearArgs) \
  X(products_##type, few_rows_##type, LinearArgs)

// Of activations as int8, with weights that are small whole numbers.
#define MYNAH_INT8_PRODUCTS_OF(X, type)              \
  X(products_##type, linear_int8_##type, LinearArgs) \
  X(products_##type, few_rows_int8_##type, LinearArgs)

#define MYNAH_PRODUCT_KERNELS(X)                   \
  MYNAH_PRODUCTS_OF(X, f32)                        \
  MYNAH_PRODUCTS_OF(X, f16)                        \
  MYNAH_PRODUCTS_OF(X, bf16)                       \
  MYNAH_PRODUCTS_OF(X, i8)                         \
  MYNAH_PRODUCTS_OF(X, q4_0)                       \
  MYNAH_PRODUCTS_OF(X, q4_1)                       \
  MYNAH_PRODUCTS_OF(X, q5_0)                       \
  MYNAH_PRODUCTS_OF(X, q5_1)                       \
  MYNAH_PRODUCTS_OF(X, q8_0)                       \
  MYNAH_PRODUCTS_OF(X, q2_k)                       \
  MYNAH_PRODUCTS_OF(X, q3_k)                       \
  MYNAH_PRODUCTS_OF(X, q4_k)                       \
  MYNAH_PRODUCTS_OF(X, q5_k)                       \
  MYNAH_PRODUCTS_OF(X, q6_k)                       \
  MYNAH_PRODUCTS_OF(X, iq4_nl)                     \
  MYNAH_PRODUCTS_OF(X, iq4_xs)                     \
  MYNAH_PRODUCTS_OF(X, mxfp4)                      \
  MYNAH_INT8_PRODUCTS_OF(X, i8)                    \
  MYNAH_INT8_PRODUCTS_OF(X, q4_0)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q4_1)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q5_0)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q5_1)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q8_0)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q2_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q3_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q4_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q5_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, q6_k)                  \
  MYNAH_INT8_PRODUCTS_OF(X, iq4_nl)                \
  MYNAH_INT8_PRODUCTS_OF(X, iq4_xs)                \
  MYNAH_INT8_PRODUCTS_OF(X, mxfp4)                 \
  X(products_f32, conv1d_f32, Conv1dArgs)          \
  X(products_f16, conv1d_f16, Conv1dArgs)          \
  X(products_bf16, conv1d_bf16, Conv1dArgs)        \
  X(products_i8, conv1d_i8, Conv1dArgs)            \
  X(conv1d_grouped, conv1d_grouped, Conv1dArgs)    \
  X(quantize_rows, quantize_rows, QuantizeArgs)    \
  X(quantize_rows, quantize_windows, QuantizeArgs) \
  X(pack_rows, pack_rows_f16, PackArgs)            \
  X(pack_rows, pack_rows_bf16, PackArgs)           \
  X(pack_rows, pack_windows_f16, PackArgs)         \
  X(pack_rows, pack_windows_bf16, PackArgs)        \
  X(matmul, matmul, MatmulArgs)                    \
  X(matmul, matmul_transposed, MatmulArgs)         \
  X(table_rows, table_rows, TableArgs)

// On matrix units: no card below level 75 has them, and bf16 none below 80.
#define MYNAH_UNITS_PRODUCTS_OF(X, type)                         \
  X(units_products_##type, units_linear_##type##_128, UnitsArgs) \
  X(units_products_##type, units_linear_##type##_64, UnitsArgs)  \
  X(units_products_##type, units_few_rows_##type, UnitsArgs)     \
  X(units_conv1d_##type, units_conv1d_##type##_128, UnitsArgs)   \
  X(units_conv1d_##type, units_conv1d_##type##_64, UnitsArgs)

#define MYNAH_UNITS_PRODUCT_KERNELS(X)             \
  MYNAH_UNITS_PRODUCTS_OF(X, f16)                  \
  MYNAH_UNITS_PRODUCTS_OF(X, bf16)                 \
  X(units_int8_i8, units_linear_i8_128, UnitsArgs) \
  X(units_int8_i8, units_linear_i8_64, UnitsArgs)
