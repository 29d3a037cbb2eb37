// Activations rounded to half of f32's bits, to the nearest, for matrix units.
#pragma once

#include "backend/cuda/kernels/weight_layout.h"
#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// The largest number that half precision has stands for what is larger, as long as that is finite:
// an infinity would spoil the row, and the error is seen by nobody who trained below it.
inline float within_f16(float x) {
  constexpr uint32_t kLargest = 0x477FE000U;  // 65504
  constexpr uint32_t kInfinite = 0x7F800000U;
  const uint32_t bits = bits_of(x);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  return magnitude > kLargest && magnitude < kInfinite ? float_of((bits & 0x80000000U) | kLargest)
                                                       : x;
}

// Two neighbours in a word, as weights of type kStorage are.
template <Storage kStorage>
inline uint32_t rounded_pair(float first, float second) {
  static_assert(kStorage == Storage::F16 || kStorage == Storage::BF16);
  if constexpr (kStorage == Storage::F16) {
    return from_float<F16>(within_f16(first)).bits |
           static_cast<uint32_t>(from_float<F16>(within_f16(second)).bits) << 16;
  } else {
    return from_float<Bf16>(first).bits | static_cast<uint32_t>(from_float<Bf16>(second).bits)
                                              << 16;
  }
}

}  // namespace mynah::simt
