// Storage types to numbers and back, in scalar code: what packing, conversion and tests share, so
// that all of them mean the same value by the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace mynah {

// IEEE half and bfloat16. To nearest, ties to even; overflow becomes infinity, NaN stays NaN.
[[nodiscard]] uint16_t f32_to_f16(float value);
[[nodiscard]] float f16_to_f32(uint16_t bits);
[[nodiscard]] uint16_t f32_to_bf16(float value);
[[nodiscard]] float bf16_to_f32(uint16_t bits);

// Reads out.size() elements of any dtype from `source` (any alignment; integers become their
// value). Block types as dequantize_row_* of ggml-quants.c; the elements must be whole blocks.
void dequantize(DType dtype, const std::byte* source, std::span<float> out);

// Whether quantize() writes this type: f32, f16, bf16, Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0.
[[nodiscard]] bool can_quantize(DType dtype);

// Writes the elements as `dtype` to `out`, storage_bytes() bytes of any alignment. Block types as
// quantize_row_*_ref of ggml-quants.c, so that files written are equal byte for byte. Where the
// type is one that can_quantize() refuses, that is a bug.
void quantize(DType dtype, std::span<const float> values, std::byte* out);

// Symmetric int8 of one row: value = result * scale with scale = max|value| / 127, to nearest, ties
// to even. Where the values are whole multiples of one step, 127 at most, as those of an int8 model
// are, the scale is that step and nothing is lost. Returns the scale, 0 for a row of zeros. A row
// with an infinity or NaN becomes zeros with a scale that is not finite.
float quantize_row_i8(std::span<const float> values, int8_t* out);

// Weights in int16 have a scale for each so many elements of a row, and what is left.
inline constexpr int64_t kInt16Run = 384;

// The largest code of activations that meet them.
inline constexpr int kInt16Peak = 8191;

// Symmetric int16 of one run of at most kInt16Run: value = result * scale, to nearest, ties to
// even. The scale is the least for which results are within int16, and sums of their products with
// codes up to kInt16Peak within int32. Returns the scale, 0 for a run of zeros. A run with an
// infinity or NaN becomes zeros with a scale that is not finite.
float quantize_run_i16(std::span<const float> values, int16_t* out);

}  // namespace mynah
