// ggml's blocks taken apart: small whole numbers, and the scale and minimum that a group of them
// shares. What dequantisation and integer products both start from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace mynah {

inline constexpr int kBlockElements = 32;        // of Q4_0 to Q8_0, IQ4_NL and MXFP4
inline constexpr int kSuperBlockElements = 256;  // of Q2_K to Q6_K and IQ4_XS

// Elements that share a scale: 32, or 16 in Q2_K, Q3_K and Q6_K. Block types only.
[[nodiscard]] int64_t block_group(DType dtype);

// Whether groups have a minimum other than zero: Q4_1, Q5_1, Q2_K, Q4_K and Q5_K.
[[nodiscard]] bool has_minima(DType dtype);

// What the four bits of IQ4_NL, IQ4_XS and MXFP4 stand for; of the latter doubled, to be whole
// (ggml-common.h, kvalues_iq4nl and kvalues_mxfp4). Null for other types.
[[nodiscard]] const std::array<int8_t, 16>* code_table(DType dtype);

// The scales of a type whose groups have small whole numbers times a number of the block's: group g
// has scale * scale_codes[g] and minimum * minimum_codes[g], both exact in f32.
struct SharedScales {
  float scale = 0.0F;
  float minimum = 0.0F;
  std::array<int8_t, kSuperBlockElements / 16> scale_codes{};
  std::array<int8_t, kSuperBlockElements / 16> minimum_codes{};

  void put(int group, int scale_code, int minimum_code = 0) {
    scale_codes[static_cast<size_t>(group)] = static_cast<int8_t>(scale_code);
    minimum_codes[static_cast<size_t>(group)] = static_cast<int8_t>(minimum_code);
  }
};

// Whether unpack_shared_scales() reads it: the types of 256 elements a block.
[[nodiscard]] bool has_shared_scales(DType dtype);

[[nodiscard]] SharedScales unpack_shared_scales(DType dtype, const std::byte* block);

// Takes one block apart: element i is codes[i] * scales[i / group] + minima[i / group], exactly as
// dequantize_row_* of ggml-quants.c computes it. Codes lie in [-128, 127]; block_elements() of
// them.
void unpack_block(DType dtype, const std::byte* block, int8_t* codes, float* scales, float* minima);

}  // namespace mynah
