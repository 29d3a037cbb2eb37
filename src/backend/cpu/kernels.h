// The inner loops, one set an instruction set, chosen once. Plain pointers and sizes: no tensors,
// no threads.
#pragma once

#include <cstdint>

#include "backend/cpu/isa.h"
#include "tensor/op_params.h"

namespace mynah::cpu {

// Weights lie in panels of 32 output channels: two of the widest vectors, so that one layout serves
// every instruction set and a packed file can be shared between machines.
inline constexpr int64_t kPanel = 32;

// What attention's weight of 1 is in a product with int8 values.
inline constexpr float kWeightCode = 255.0F;

// Work done on a tile of products before it is written: see Kernels::finish.
struct Finish {
  const float* bias = nullptr;      // of the tile's columns, or null
  const float* residual = nullptr;  // of the tile's first element, or null
  int64_t residual_stride = 0;
  Activation activation = Activation::None;
};

// The int8 product's way back to numbers: y = (sum - 128 * column_sum) * row_scale * column_scale.
struct Int8Scales {
  const float* rows = nullptr;     // one a row of the tile
  const float* columns = nullptr;  // one a column
  const int32_t* column_sums =
      nullptr;  // sum of a column's weights: activations are stored as x + 128
};

// A run of K of a product with int16 weights: y = sum * row scale * column scale.
struct Int16Run {
  const int16_t* rows = nullptr;  // (m, 2 * steps), row_stride apart
  int64_t row_stride = 0;
  const float* row_scales = nullptr;  // one a row, scale_stride apart
  int64_t scale_stride = 0;
  const int16_t* panel = nullptr;        // (steps, 32, 2)
  const float* column_scales = nullptr;  // (32)
  int64_t steps = 0;
  bool adds = false;  // to what is in the tile
};

// Elements of K whose codes of a block type lie together, and that share a scale of activations.
inline constexpr int64_t kBlockRows = 32;

// How many bits the codes of a block type have where they are packed; Table: four, which number one
// of 16 codes.
enum class CodeBits : uint8_t { Four, Five, Six, Eight, Table };

// Rows of activations for products with a block type: x = code * scale. Rows lie one after another.
struct BlockRows {
  int8_t* codes = nullptr;  // (row, blocks, kBlockRows)
  float* scales = nullptr;  // (row, blocks)
  float* sums = nullptr;    // (row, blocks, groups) of the numbers; null where no minima need them
  int32_t* starts = nullptr;  // (row, blocks, groups) of sums of products: -zero * sum of the codes
  int64_t blocks = 0;
  int64_t groups = 1;  // of a block, which have a scale of weights each: 1 or 2
  int zero = 0;        // of the weights' codes
};

// Some blocks of weights of 32 columns: w = (code - zero) * scale + minimum.
struct BlockChunk {
  const uint8_t* codes = nullptr;  // (block, 8, 32, 4) bytes, or packed: Kernels::unpack_codes
  CodeBits bits = CodeBits::Eight;
  const uint8_t* table = nullptr;  // (16) of CodeBits::Table
  const float* scales = nullptr;   // (block, groups, 32)
  const float* minima = nullptr;   // the same, or null
  int64_t first = 0;               // block of K
  int64_t blocks = 0;
  // What is read soon after: so many bytes for each block from here on are asked for meanwhile.
  const std::byte* fetch = nullptr;
  int64_t fetch_bytes = 0;
};

// Fourier transforms of n numbers times a window; n is 4 times twos and fives.
struct Transform {
  int64_t n = 0;
  const float* window = nullptr;   // (n)
  const float* cosines = nullptr;  // (n) a full turn in n steps
  const float* sines = nullptr;
};

// What a convolution sees of a row of x, a number a channel: scale * x + shift (both or neither),
// then y + sin(alpha y)^2 * inverse (both or neither), else y below zero times slope.
struct InputRow {
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* alpha = nullptr;
  const float* inverse = nullptr;  // 1 / alpha
  float slope = 1.0F;
};

// What a value of pitch sounds like: phases of each harmonic at the value before, at it and after
// it, the same as its own at the ends.
struct SineRow {
  const float* before = nullptr;
  const float* here = nullptr;
  const float* after = nullptr;
  const float* weights = nullptr;
  int64_t harmonics = 0;  // 0: no voice
  int64_t value = 0;      // of `values` of the utterance
  int64_t values = 1;
  float bias = 0.0F;
};

// Columns of a delta_rule's state that its kernel takes at a time: with as many rows as a key has
// columns, they fit into the first-level cache.
inline constexpr int64_t kDeltaColumns = 32;

// Rows of one head of a delta_rule; strides between rows.
struct DeltaRows {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;  // of the columns at hand, `columns` of them
  const float* gates = nullptr;
  const float* betas = nullptr;
  float* out = nullptr;
  int64_t q_stride = 0;
  int64_t k_stride = 0;
  int64_t v_stride = 0;
  int64_t gate_stride = 0;
  int64_t beta_stride = 0;
  int64_t out_stride = 0;
  int64_t count = 0;
  int64_t key_columns = 0;
  int64_t columns = 0;  // at most kDeltaColumns
};

// Numbers of a few queries, a row each.
struct HeadQueries {
  const float* rows = nullptr;
  int64_t stride = 0;
  int64_t count = 1;
};

// Elements of one head of n keys or values.
struct HeadRows {
  const std::byte* rows = nullptr;
  size_t row_bytes = 0;  // from a row to the next
  int64_t n = 0;
  int64_t d = 0;
  // What is read after them, as many rows: asked for meanwhile. Null: what lies behind them.
  const std::byte* next = nullptr;
};

struct Kernels {
  // Products of m rows with one panel: out (m, 32) with row stride `out_stride`. Element (i, j) is
  // summed over k in order, whatever m is, so that a row's result does not depend on its
  // neighbours. a (m, k) f32; panel (k, 32) f32.
  void (*gemm_f32)(const float* a, int64_t a_stride, int64_t m, int64_t k, const float* panel,
                   float* out, int64_t out_stride);
  // As gemm_f32, added to what is in tile (m, 32), for rows less than five at a time.
  void (*gemm_add_f32)(const float* a, int64_t a_stride, int64_t m, int64_t k, const float* panel,
                       float* tile);
  // Indices of the elements of x (n) that are not zero, in order; returns how many. out has room
  // for n.
  int64_t (*nonzeros)(const float* x, int64_t n, int32_t* out);
  // Product of a row's elements at[0..count) with n_panels panels, panel_stride numbers apart:
  // out (n_panels * 32). With all that are not zero it is gemm_f32's of one row.
  void (*matvec_f32)(const float* x, const int32_t* at, int64_t count, const float* panels,
                     int64_t panel_stride, int64_t n_panels, float* out);
  // a (m, 4 * k4) u8; panel (k4, 32, 4) s8; exact in int32.
  void (*gemm_i8)(const uint8_t* a, int64_t a_stride, int64_t m, int64_t k4, const int8_t* panel,
                  int32_t* out, int64_t out_stride);
  // a (m, 2 * k2) bf16; panels (k2, 32, 2) bf16, `count` of them `panel_stride` elements apart, so
  // that few rows keep the pipeline full by taking several at once: out (m, 32 * count). Null where
  // the processor has no bfloat16 products.
  void (*gemm_bf16)(const uint16_t* a, int64_t a_stride, int64_t m, int64_t k2,
                    const uint16_t* panels, int64_t count, int64_t panel_stride, float* out,
                    int64_t out_stride);
  // One run of m rows with one panel, to tile (m, 32): exact in int32, then scaled. Null where the
  // processor has no dot products of int16.
  void (*gemm_i16)(const Int16Run& run, int64_t m, float* tile);
  // A run of a row of activations, k numbers, in codes of at most kInt16Peak; where k is odd a zero
  // follows. Returns the scale.
  float (*quantize_run_i16)(const float* x, int64_t k, int16_t* out);
  // a (m, 2 * k2) f32; panel (k2, 32, 2) bf16, widened on the way.
  void (*gemm_f32_bf16)(const float* a, int64_t a_stride, int64_t m, int64_t k2,
                        const uint16_t* panel, float* out, int64_t out_stride);

  // Tiles of m rows and n <= 32 columns (tile stride 32): bias, activation, residual, write.
  void (*finish)(const float* tile, int64_t m, int64_t n, const Finish& how, float* out,
                 int64_t out_stride);
  void (*finish_i8)(const int32_t* tile, int64_t m, int64_t n, const Int8Scales& scales,
                    const Finish& how, float* out, int64_t out_stride);

  // Block types. Codes of `blocks` blocks of 32 columns to bytes (block, 8, 32, 4). A block's lower
  // four bits are pairs of steps of four elements, (4, 32, 4) bytes of which the second has the
  // upper half; then a fifth bit, (32, 4) bytes with a bit for each step, or two more, (2, 32, 4)
  // bytes with two bits for each of four steps. table (16): of CodeBits::Table. Not for Eight,
  // which need none.
  void (*unpack_codes)(CodeBits bits, const std::byte* from, int64_t blocks, const uint8_t* table,
                       uint8_t* out);
  // out (groups, 32) = codes (groups, 32) * shared (32).
  void (*scale_groups)(const float* shared, const int8_t* codes, int64_t groups, float* out);
  // Row r of `out` from x (blocks * kBlockRows): each block's largest is 127 steps.
  void (*quantize_blocks)(const float* x, const BlockRows& out, int64_t r);
  // tile (m, 32) += rows [row, row + m) of x times a chunk, of a row's first one = it. Element (i,
  // j) is summed over blocks in order, exact inside a group. Packed codes are for `packed_rows`
  // rows at most.
  void (*block_products)(const BlockRows& x, int64_t row, int64_t m, const BlockChunk& chunk,
                         float* tile);
  int64_t packed_rows = 0;

  // Products of exp_codes with int8 values: y = sum * scale + mean * the row's weight, on tiles of
  // stride 32; where `adds`, to what is in out.
  void (*finish_mix)(const int32_t* tile, int64_t m, const float* scales, const float* means,
                     const float* weights, bool adds, float* out, int64_t out_stride);

  // Columns of x (rows, n), rows one after another, n a multiple of 32: sums, row after row, ...
  void (*column_sums)(const float* x, int64_t rows, int64_t n, float* out);
  // ... and the largest |x - mean|.
  void (*column_peaks)(const float* x, int64_t rows, int64_t n, const float* mean, float* out);
  // 32 columns of attention's values to the panel of codes (rows / 4 rounded up, 32, 4) that
  // gemm_i8 reads: (x - mean) * inverse to nearest, 127 at most; zeros after the last row.
  void (*value_codes)(const float* x, int64_t stride, int64_t rows, const float* mean,
                      const float* inverse, uint8_t* out);

  // A convolution's input, n channels of one row; returns the largest magnitude. x and out may be
  // the same.
  float (*input_row)(const float* x, const InputRow& how, int64_t n, float* out);
  // sums (n): of `count` rows of x, `x_stride` apart, times as many rows of w, n apart, element by
  // element.
  void (*sum_products)(const float* x, int64_t x_stride, const float* w, int64_t count, int64_t n,
                       float* sums);
  // x * inverse, between -127 and 127, to nearest, and 128.
  void (*codes)(const float* x, int64_t n, float inverse, uint8_t* out);
  // Of n columns, sums over the rows, at least one: of differences from the first row, and of their
  // squares.
  void (*column_moments)(const float* x, int64_t stride, int64_t rows, int64_t n, float* sums,
                         float* squares);

  // A panel of int8 weights (k4, 32, 4) to f32 (4 * k4, 32), times a scale for each column.
  void (*widen_i8)(const int8_t* panel, int64_t k4, const float* scales, float* out);

  // One row of activations to x + 128 in u8, zero padded to 4 * k4 (as 128); returns the scale.
  float (*quantize_row)(const float* x, int64_t k, uint8_t* out, int64_t k4);
  // The same to 16 bits: 256 (high - 128) + (low - 128).
  float (*quantize_row_close)(const float* x, int64_t k, uint8_t* high, uint8_t* low, int64_t k4);
  // Products of such rows with int8 weights, high and low by turns in a tile of 2 m rows (tile
  // stride 32), to tiles of m rows.
  void (*join_close)(const int32_t* tile, int64_t m, const Int8Scales& scales, float* out);
  void (*to_bf16)(const float* x, int64_t n, uint16_t* out);
  void (*from_bf16)(const uint16_t* x, int64_t n, float* out);
  void (*to_f16)(const float* x, int64_t n, uint16_t* out);
  void (*from_f16)(const uint16_t* x, int64_t n, float* out);

  // Queries over the keys that all of them see, for decode steps: their scores -> out (query, n),
  // its rows `out_stride` apart. A query's are the same whatever the others are.
  using Dots = void (*)(const HeadQueries& queries, const HeadRows& keys, float scale, float* out,
                        int64_t out_stride);
  Dots dots_f32;
  Dots dots_f16;
  Dots dots_bf16;
  Dots dots_q8_0;
  // out (query, d) += sum of weight[i] * values[i]; weights: of each query as many as there are
  // values.
  using Mix = void (*)(const HeadQueries& weights, const HeadRows& values, float* out,
                       int64_t out_stride);
  Mix mix_f32;
  Mix mix_f16;
  Mix mix_bf16;
  Mix mix_q8_0;

  // One head's pairs turned: turns has their cosines, then their sines. x and out may be the same.
  void (*rope)(const float* x, const float* turns, int64_t pairs, RopePairs kind, float* out);

  // Rows.
  void (*layer_norm)(const float* x, const float* gamma, const float* beta, float eps, int64_t n,
                     float* out);
  void (*rms_norm)(const float* x, const float* gamma, float eps, int64_t n, float* out);
  float (*max)(const float* x, int64_t n);
  float (*sum)(const float* x, int64_t n);
  // out = exp(x - shift); returns the sum. x and out may be the same.
  float (*exp_sum)(const float* x, int64_t n, float shift, float* out);
  // out = exp(x - shift) in u8, kWeightCode for 1, shift >= every x; returns the sum of the
  // exponentials before they were rounded.
  float (*exp_codes)(const float* x, int64_t n, float shift, uint8_t* out);
  void (*affine)(const float* x, int64_t n, float a, float b, float* out);
  // x (2 n) -> out (n): gates x[i], values x[n + i].
  void (*gated)(const GatedParams& how, const float* x, int64_t n, float* out);
  void (*leaky_relu)(const float* x, int64_t n, float slope, float* out);
  // out = x + sin(alpha * x)^2 / alpha, alpha (n).
  void (*snake)(const float* x, const float* alpha, int64_t n, float* out);
  // sum of exp(a * (x + mask - shift)), shift >= every x + mask; mask may be null.
  float (*masked_exp_sum)(const float* x, const float* mask, int64_t n, float shift, float a);
  // Largest x + mask (null: x) and, where it is asked for, its lowest index.
  float (*masked_max)(const float* x, const float* mask, int64_t n, int64_t* index);
  void (*unary)(UnaryOp op, const float* x, int64_t n, float* out);
  // b has n elements, or one when b_step is 0.
  void (*binary)(BinaryOp op, const float* a, const float* b, int64_t b_step, int64_t n,
                 float* out);
  // gates (4h) -> c, h, as PyTorch's LSTM cell: input, forget, cell, output.
  void (*lstm_cell)(const float* gates, int64_t h, float* c, float* out);
  // out (n): activation(sum of `taps` rows times as many of w, n apart, element by element).
  void (*short_conv)(const float* const* rows, const float* w, int64_t taps, int64_t n,
                     Activation activation, float* out);
  // The rows in order, over kDeltaColumns columns of a state (key_columns), its rows `stride`
  // apart.
  void (*delta_rule)(const DeltaRows& rows, float* state, int64_t stride);
  // n samples of a value of pitch: tanh of the weighted sines and the bias.
  void (*sine_row)(const SineRow& how, int64_t n, float* out);
  // Magnitudes and phases of n complex numbers; 0 has the phase 0 or pi.
  void (*to_polar)(const float* real, const float* imaginary, int64_t n, float* magnitudes,
                   float* phases);
  // n complex numbers of logarithms of magnitudes, and of numbers whose sines are phases.
  void (*from_polar)(const float* logarithms, const float* turned, int64_t n, float* real,
                     float* imaginary);
  // Magnitudes of the Fourier transforms of m <= 4 rows of numbers -> out (m, n / 2 + 1). scratch
  // has room for spectrum_scratch(n) numbers.
  void (*magnitudes)(const float* x, int64_t x_stride, int64_t m, const Transform& how,
                     float* scratch, float* out, int64_t out_stride);
  // Their squares -> out (n / 2 + 1, 4); rows from m on mean nothing.
  void (*powers)(const float* x, int64_t x_stride, int64_t m, const Transform& how, float* scratch,
                 float* out);
};

// Rows that a call of `magnitudes` or `powers` takes.
inline constexpr int64_t kTransformRows = 4;

// Two buffers of four rows' transforms.
[[nodiscard]] inline constexpr int64_t spectrum_scratch(int64_t n) {
  return 2 * kTransformRows * (n + 2);
}

// The kernels of an instruction set that this processor has.
[[nodiscard]] Kernels kernels_for(Isa isa);

}  // namespace mynah::cpu
