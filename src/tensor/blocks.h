// ggml's blocks taken apart: small whole numbers, and the scale and minimum that a group of them
// shares. What dequantisation and integer products both start from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace mynah {

inline constexpr int kBlockElements = 32;        // of Q4_0 to Q8_0
inline constexpr int kSuperBlockElements = 256;  // of Q2_K to Q6_K

// Elements that share a scale: 32, or 16 in Q2_K, Q3_K and Q6_K. Block types only.
[[nodiscard]] int64_t block_group(DType dtype);

// Whether groups have a minimum other than zero: Q4_1, Q5_1, Q2_K, Q4_K and Q5_K.
[[nodiscard]] bool has_minima(DType dtype);

// Takes one block apart: element i is codes[i] * scales[i / group] + minima[i / group], exactly as
// dequantize_row_* of ggml-quants.c computes it. Codes lie in [-128, 127]; block_elements() of
// them.
void unpack_block(DType dtype, const std::byte* block, int8_t* codes, float* scales, float* minima);

}  // namespace mynah
