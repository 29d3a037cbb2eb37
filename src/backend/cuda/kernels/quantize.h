// Rows of activations as int8: value = code * scale, the scale a row's own (tensor/quantize.h,
// quantize_row_i8).
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

// What a row with this largest magnitude is multiplied by.
inline float inverse_scale(float peak) {
  return peak > 0.0F ? 127.0F / peak : 0.0F;
}

// A row with a value that is not finite has codes of zero and a scale that is not finite.
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
