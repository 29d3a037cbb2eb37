// Activations rounded to half of f32's bits, to the nearest, for matrix units.
#pragma once

#include "backend/cuda/kernels/weight_layout.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// The largest number that half precision has stands for what is larger, as long as that is finite:
// an infinity would spoil the whole row.
inline float within_f16(float x) {
  constexpr uint32_t kLargest = 0x477FE000U;  // 65504
  constexpr uint32_t kInfinite = 0x7F800000U;
  const uint32_t bits = bits_of(x);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  return magnitude > kLargest && magnitude < kInfinite ? float_of((bits & 0x80000000U) | kLargest)
                                                       : x;
}

template <Storage kStorage>
struct Rounded;

template <>
struct Rounded<Storage::F16> {
  using Type = F16;
};

template <>
struct Rounded<Storage::BF16> {
  using Type = Bf16;
};

// Two neighbours in a word, as weights of type kStorage are.
template <Storage kStorage>
inline uint32_t rounded_pair(float first, float second) {
  if constexpr (kStorage == Storage::F16) {
    return nearest_pair<F16>(within_f16(first), within_f16(second));
  } else {
    return nearest_pair<Bf16>(first, second);
  }
}

// Not zero where one of two halves is infinite or no number.
inline uint32_t beyond_f16(uint32_t pair) {
  return ((pair & 0x7FFF7FFFU) + 0x04000400U) & 0x80008000U;
}

}  // namespace mynah::simt
