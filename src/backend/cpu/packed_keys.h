// How one utterance's keys and values lie once they are packed: head by head, keys as panels of 32
// keys, values as panels of 32 channels, so that both of attention's products read whole vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/kernels.h"
#include "tensor/tensor.h"

namespace mynah::cpu {

// Channels of a head that buffers on the stack hold; the largest in use is 256.
inline constexpr int64_t kMaxHead = 512;

// Addresses and sizes, in elements: f32 where the precision is exact, else bfloat16. Steps of a
// product are taken two at a time, so that what is odd has a zero at its end.
//   keys:   element (j, i, p) of panel j / 32: channels 2i and 2i + 1 of key j side by side in
//           bfloat16, (d / 2, 32, 2); channel i in f32, (d, 32)
//   values: panel c / 32 of channels: rows 2n and 2n + 1 side by side in bfloat16, (rows / 2, 32,
//           2); in f32 (rows, 32)
struct PackedKeys {
  // Inline, with constants to divide by: a step of the decoder asks for this a hundred times.
  PackedKeys(int64_t row_count, int64_t channels, Precision kept)
      : rows(row_count),
        even_rows((row_count + 1) / 2 * 2),
        padded_rows((row_count + kPanel - 1) / kPanel * kPanel),
        even_channels((channels + 1) / 2 * 2),
        padded_channels((channels + kPanel - 1) / kPanel * kPanel),
        precision(kept) {}

  explicit PackedKeys(const KeysValues& packed)
      : PackedKeys(packed.rows, packed.head_dim, packed.precision) {}

  [[nodiscard]] bool bf16() const { return precision == Precision::Fast; }

  [[nodiscard]] int64_t key_panels() const { return padded_rows / kPanel; }

  [[nodiscard]] int64_t value_panels() const { return padded_channels / kPanel; }

  // Elements from one panel to the next.
  [[nodiscard]] int64_t key_panel() const { return even_channels * kPanel; }

  [[nodiscard]] int64_t value_panel() const { return even_rows * kPanel; }

  [[nodiscard]] int64_t key_elements() const { return padded_rows * even_channels; }

  [[nodiscard]] int64_t head_bytes() const {
    return (key_elements() + even_rows * padded_channels) * (bf16() ? 2 : 4);
  }

  int64_t rows;
  int64_t even_rows;
  int64_t padded_rows;  // to whole panels
  int64_t even_channels;
  int64_t padded_channels;
  Precision precision;
};

// Packs one head of k and v (rows, heads * d), f32, f16 or bf16, whose channels begin at `column`.
void pack_head(const Kernels& kernels, const PackedKeys& sizes, const Tensor& k, const Tensor& v,
               int64_t column, int64_t d, std::byte* out);

}  // namespace mynah::cpu
