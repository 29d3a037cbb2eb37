// Rows of activations as int8: value = code * scale. The scale is a row's own (tensor/quantize.h,
// quantize_row_i8) where weights have none but a row's, and a chunk's own where they are in blocks.
#pragma once

#include "backend/cuda/kernels/weights.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// The bits of |x|, which grow with it; those of a NaN are above all.
inline int magnitude_bits(float x) {
  return static_cast<int>(bits_of(x) & 0x7FFFFFFFU);
}

inline int warp_max_bits(int bits) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const int other = shuffle_xor(bits, distance);
    bits = other > bits ? other : bits;
  }
  return bits;
}

// The same of each chunk: neighbouring lanes have its words, a lane each.
inline int chunk_max_bits(int bits) {
  for (int distance = 1; distance < kChunk / 4; distance *= 2) {
    const int other = shuffle_xor(bits, distance);
    bits = other > bits ? other : bits;
  }
  return bits;
}

inline int largest_bits(const Vector<float, 4>& values) {
  int bits = 0;
  MYNAH_UNROLLED for (int i = 0; i < 4; ++i) {
    const int of_value = magnitude_bits(values[i]);
    bits = of_value > bits ? of_value : bits;
  }
  return bits;
}

inline float peak_of(int bits) {
  return float_of(static_cast<uint32_t>(bits));
}

// What a row, or a chunk, with this largest magnitude is multiplied by.
inline float inverse_scale(float peak) {
  return peak > 0.0F ? 127.0F / peak : 0.0F;
}

// What has a value that is not finite has codes of zero and a scale that is not finite.
inline int code_of(float x, float inverse) {
  const float q = nearest(x * inverse);
  return q >= -127.0F && q <= 127.0F ? static_cast<int>(q) : 0;
}

// Adds one scale's share of a chunk to the chunk's value: the products of codes, and of the
// minimum with the sum of x's codes, both whole numbers.
template <Storage kStorage>
inline float add_scaled(float dot, float scale, float minimum, float code_sum, float value) {
  value = multiply_add(scale, dot, value);
  return layout_of(kStorage).minima ? multiply_add(minimum, code_sum, value) : value;
}

}  // namespace mynah::simt
