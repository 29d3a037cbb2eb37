// How one utterance's keys and values lie once they are packed: head by head, keys as panels of 32
// keys, values as panels of 32 channels, so that both of attention's products read whole vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels.h"
#include "tensor/op_params.h"
#include "tensor/tensor.h"

namespace mynah::cpu {

// Channels of a head that buffers on the stack hold; the largest in use is 256.
inline constexpr int64_t kMaxHead = 512;

// Of one utterance in int8: weights of 255 times values of 127 add up within int32.
inline constexpr int64_t kMostKeys = 65536;

// Addresses and sizes.
//   keys:   fast: a panel is codes (steps, 32, 4) in int8, each key's rounded by a scale of its
//           own, then 32 f32 scales and 32 i32 sums of codes; behind all panels the mean of the
//           first run's in f32, which codes are relative to; exact: (d, 32) in f32
//   values: fast: a panel is codes (rows / 4, 32, 4) in int8, each channel's relative to its mean
//           over the run and rounded by a scale of its own, zeros after the last row, then of each
//           run 32 f32 scales, for weights as codes too, and 32 f32 means; exact: (rows, 32) in f32
// A run is `run_rows` rows, a multiple of 32: the last one may be shorter, and is the only one
// where all rows are rounded together.
struct PackedKeys {
  // Inline, with constants to divide by: a step of the decoder asks for this a hundred times.
  PackedKeys(int64_t row_count, int64_t channel_count, Precision kept, int64_t rows_of_run)
      : rows(row_count),
        whole_rows((row_count + 3) / 4 * 4),
        padded_rows((row_count + kPanel - 1) / kPanel * kPanel),
        channels(channel_count),
        padded_channels((channel_count + kPanel - 1) / kPanel * kPanel),
        run_rows(rows_of_run == 0 || kept == Precision::Exact ? std::max(padded_rows, kPanel)
                                                              : rows_of_run),
        fast(kept == Precision::Fast) {}

  // `rows_of_run`: 0: all together.
  explicit PackedKeys(const KeysValues& packed, int64_t rows_of_run = 0)
      : PackedKeys(packed.rows, packed.head_dim, packed.precision, rows_of_run) {}

  // One at least.
  [[nodiscard]] int64_t runs() const {
    return rows <= run_rows ? 1 : (rows + run_rows - 1) / run_rows;
  }

  // Rows of a run.
  [[nodiscard]] Span run(int64_t i) const {
    return {i * run_rows, std::min(run_rows, rows - i * run_rows)};
  }

  [[nodiscard]] int64_t key_panels() const { return padded_rows / kPanel; }

  [[nodiscard]] int64_t value_panels() const { return padded_channels / kPanel; }

  // Steps of four channels in which int8 keys are multiplied.
  [[nodiscard]] int64_t key_steps() const { return (channels + 3) / 4; }

  // Where a panel's scales stand; its sums follow them.
  [[nodiscard]] int64_t key_scales() const { return key_steps() * 4 * kPanel; }

  [[nodiscard]] int64_t key_panel_bytes() const {
    return fast ? key_scales() + 2 * kPanel * 4 : channels * kPanel * 4;
  }

  // Where the mean stands that keys are relative to.
  [[nodiscard]] int64_t key_mean() const { return key_panels() * key_panel_bytes(); }

  [[nodiscard]] int64_t key_bytes() const { return key_mean() + (fast ? padded_channels * 4 : 0); }

  // From one row of a panel of values to the next.
  [[nodiscard]] int64_t value_row_bytes() const { return fast ? kPanel : kPanel * 4; }

  // Where a run's scales of a panel stand; its means follow them.
  [[nodiscard]] int64_t value_scales(int64_t i) const {
    return whole_rows * value_row_bytes() + i * 2 * kPanel * 4;
  }

  [[nodiscard]] int64_t value_panel_bytes() const { return value_scales(fast ? runs() : 0); }

  [[nodiscard]] int64_t head_bytes() const {
    return key_bytes() + value_panels() * value_panel_bytes();
  }

  // What packing needs beside: a head's rows are read several times.
  [[nodiscard]] int64_t scratch_floats() const { return fast ? rows * padded_channels : 0; }

  int64_t rows;
  int64_t whole_rows;   // to whole steps of values
  int64_t padded_rows;  // to whole panels
  int64_t channels;
  int64_t padded_channels;
  int64_t run_rows;  // whose means and scales of values are the same
  bool fast;
};

// Rows of k and v (rows of all, heads * d), f32, f16 or bf16, as they lie: those of a span, which
// begins with a page where there are pages.
struct StoredRows {
  const Tensor& k;
  const Tensor& v;
  PageTable pages;
  Span span;
};

// Packs one head of them, whose channels begin at `column`. `scratch` has room for
// sizes.scratch_floats().
void pack_head(const Kernels& kernels, const PackedKeys& sizes, const StoredRows& rows,
               int64_t column, float* scratch, std::byte* out);

}  // namespace mynah::cpu
