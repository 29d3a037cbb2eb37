// What the kernels of copies.cu are given.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code has no <cstdint>

namespace mynah::simt {

inline constexpr int kCopyRank = 5;

// Up to five dimensions, the last one the fastest; strides in elements. A thread an element, which
// in copy_16 is 16 bytes.
struct CopyArgs {
  const void* x;
  void* out;
  int64_t elements;
  int rank;  // the first ones count: each but the first costs a division
  int64_t shape[kCopyRank];
  int64_t x_strides[kCopyRank];
  int64_t out_strides[kCopyRank];
};

}  // namespace mynah::simt

// The kernels: kernels/list.h has what X is given.
#define MYNAH_COPY_KERNELS(X)        \
  X(copies, copy_1, CopyArgs)        \
  X(copies, copy_2, CopyArgs)        \
  X(copies, copy_4, CopyArgs)        \
  X(copies, copy_8, CopyArgs)        \
  X(copies, copy_16, CopyArgs)       \
  X(copies, cast_f32_f16, CopyArgs)  \
  X(copies, cast_f32_bf16, CopyArgs) \
  X(copies, cast_f16_f32, CopyArgs)  \
  X(copies, cast_f16_bf16, CopyArgs) \
  X(copies, cast_bf16_f32, CopyArgs) \
  X(copies, cast_bf16_f16, CopyArgs)
