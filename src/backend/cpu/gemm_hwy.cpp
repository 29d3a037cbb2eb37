// Products of rows with one panel of 32 columns, in f32 and in int8, for every instruction set that
// Highway knows. The int8 kernel here is exact too: bytes are widened to 16 bits, because the
// saturating byte product of AVX2 is not.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/gemm_hwy.cpp"
#include <algorithm>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// Two vectors of columns and as many rows as leave registers for the weights and the broadcast.
inline constexpr int kRows = HWY_TARGET == HWY_AVX3 ? 12 : 6;

// With kAdd the products are added to what `out` holds.
template <int kM, bool kAdd = false>
HWY_INLINE void rows_f32(const float* HWY_RESTRICT a, int64_t a_stride, int64_t k_count,
                         const float* HWY_RESTRICT panel, float* HWY_RESTRICT out,
                         int64_t out_stride) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t column = 0; column < kPanel; column += 2 * lanes) {
    V sums[kM][2];
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      float* from = out + r * out_stride + column;
      sums[r][0] = kAdd ? hn::LoadU(f, from) : hn::Zero(f);
      sums[r][1] = kAdd ? hn::LoadU(f, from + lanes) : hn::Zero(f);
    }
    const float* b = panel + column;
    for (int64_t k = 0; k < k_count; ++k, b += kPanel) {
      const V b0 = hn::LoadU(f, b);
      const V b1 = hn::LoadU(f, b + lanes);
#pragma GCC unroll 16
      for (int r = 0; r < kM; ++r) {
        const V x = hn::Set(f, a[r * a_stride + k]);
        sums[r][0] = hn::MulAdd(x, b0, sums[r][0]);
        sums[r][1] = hn::MulAdd(x, b1, sums[r][1]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      hn::StoreU(sums[r][0], f, out + r * out_stride + column);
      hn::StoreU(sums[r][1], f, out + r * out_stride + column + lanes);
    }
  }
}

// As rows_f32, for any number of rows up to kMost.
template <int kMost>
HWY_INLINE void some_rows_f32(int64_t rows, const float* a, int64_t a_stride, int64_t k,
                              const float* panel, float* out, int64_t out_stride) {
  if constexpr (kMost > 1) {
    if (rows < kMost) {
      some_rows_f32<kMost - 1>(rows, a, a_stride, k, panel, out, out_stride);
      return;
    }
  }
  rows_f32<kMost>(a, a_stride, k, panel, out, out_stride);
}

void gemm_f32(const float* a, int64_t a_stride, int64_t m, int64_t k, const float* panel,
              float* out, int64_t out_stride) {
  // As many rows in each pass: a last one of few would wait for its sums.
  const int64_t passes = (m + kRows - 1) / kRows;
  int64_t row = 0;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t rows = (m - row + passes - pass - 1) / (passes - pass);
    some_rows_f32<kRows>(rows, a + row * a_stride, a_stride, k, panel, out + row * out_stride,
                         out_stride);
    row += rows;
  }
}

void gemm_add_f32(const float* a, int64_t a_stride, int64_t m, int64_t k, const float* panel,
                  float* tile) {
  int64_t row = 0;
  for (; row + 4 <= m; row += 4) {
    rows_f32<4, true>(a + row * a_stride, a_stride, k, panel, tile + row * kPanel, kPanel);
  }
  a += row * a_stride;
  tile += row * kPanel;
  switch (m - row) {
    case 3:
      rows_f32<3, true>(a, a_stride, k, panel, tile, kPanel);
      break;
    case 2:
      rows_f32<2, true>(a, a_stride, k, panel, tile, kPanel);
      break;
    case 1:
      rows_f32<1, true>(a, a_stride, k, panel, tile, kPanel);
      break;
    default:
      break;
  }
}

// Rows of the mixed product: its two widened halves take registers of the sums'.
inline constexpr int kRowsMixed = HWY_TARGET == HWY_AVX3 ? 12 : 4;

template <int kM>
HWY_INLINE void rows_f32_bf16(const float* HWY_RESTRICT a, int64_t a_stride, int64_t k2_count,
                              const uint16_t* HWY_RESTRICT panel, float* HWY_RESTRICT out,
                              int64_t out_stride) {
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto high = hn::Set(u32, 0xFFFF0000U);
  for (int64_t column = 0; column < kPanel; column += 2 * lanes) {
    V sums[kM][2];
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      sums[r][0] = hn::Zero(f);
      sums[r][1] = hn::Zero(f);
    }
    const auto* b = reinterpret_cast<const uint32_t*>(panel) + column;
    for (int64_t k2 = 0; k2 < k2_count; ++k2, b += kPanel) {
      const auto pairs0 = hn::LoadU(u32, b);
      const auto pairs1 = hn::LoadU(u32, b + lanes);
      const V even0 = hn::BitCast(f, hn::ShiftLeft<16>(pairs0));
      const V even1 = hn::BitCast(f, hn::ShiftLeft<16>(pairs1));
      const V odd0 = hn::BitCast(f, hn::And(pairs0, high));
      const V odd1 = hn::BitCast(f, hn::And(pairs1, high));
#pragma GCC unroll 16
      for (int r = 0; r < kM; ++r) {
        const V x = hn::Set(f, a[r * a_stride + 2 * k2]);
        const V y = hn::Set(f, a[r * a_stride + 2 * k2 + 1]);
        sums[r][0] = hn::MulAdd(y, odd0, hn::MulAdd(x, even0, sums[r][0]));
        sums[r][1] = hn::MulAdd(y, odd1, hn::MulAdd(x, even1, sums[r][1]));
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      hn::StoreU(sums[r][0], f, out + r * out_stride + column);
      hn::StoreU(sums[r][1], f, out + r * out_stride + column + lanes);
    }
  }
}

void gemm_f32_bf16(const float* a, int64_t a_stride, int64_t m, int64_t k2, const uint16_t* panel,
                   float* out, int64_t out_stride) {
  int64_t row = 0;
  for (; row + kRowsMixed <= m; row += kRowsMixed) {
    rows_f32_bf16<kRowsMixed>(a + row * a_stride, a_stride, k2, panel, out + row * out_stride,
                              out_stride);
  }
  for (; row + 2 <= m; row += 2) {
    rows_f32_bf16<2>(a + row * a_stride, a_stride, k2, panel, out + row * out_stride, out_stride);
  }
  if (row < m) {
    rows_f32_bf16<1>(a + row * a_stride, a_stride, k2, panel, out + row * out_stride, out_stride);
  }
}

using I32 = hn::ScalableTag<int32_t>;
using I16 = hn::Repartition<int16_t, I32>;
using I8Half = hn::Rebind<int8_t, I16>;
using U8Half = hn::Rebind<uint8_t, I16>;

inline constexpr int kRowsI8 = 6;
inline constexpr int64_t kStepsI8 =
    256;  // of k4 at a time, so that the widened rows stay in the first-level cache

// Adds `steps` steps of k to out. A step holds 4 bytes of each of 32 columns; a vector of 16-bit
// numbers covers a few columns of it, and its pairwise products give two sums a column (so on x86;
// another family needs its own kernel). x: kM rows of 4 * kStepsI8 numbers.
template <int kM>
HWY_INLINE void add_steps_i8(const int16_t* HWY_RESTRICT x, int64_t steps,
                             const int8_t* HWY_RESTRICT panel, int32_t* HWY_RESTRICT out,
                             int64_t out_stride) {
  const I32 i32;
  const I16 i16;
  const I8Half i8;
  const hn::Repartition<int64_t, I32> i64;
  const int64_t columns = static_cast<int64_t>(hn::Lanes(i32)) / 2;
  HWY_ALIGN int32_t spread[hn::MaxLanes(I32())];
  for (int64_t column = 0; column < kPanel; column += columns) {
    hn::Vec<I32> sums[kM];
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      sums[r] = hn::Zero(i32);
    }
    const int8_t* b = panel + column * 4;
    for (int64_t k = 0; k < steps; ++k, b += kPanel * 4) {
      const auto w = hn::PromoteTo(i16, hn::LoadU(i8, b));
#pragma GCC unroll 16
      for (int r = 0; r < kM; ++r) {
        int64_t four;
        std::memcpy(&four, x + r * 4 * kStepsI8 + k * 4, sizeof(four));
        auto unused = hn::Zero(i32);
        sums[r] = hn::ReorderWidenMulAccumulate(i32, w, hn::BitCast(i16, hn::Set(i64, four)),
                                                sums[r], unused);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      hn::Store(sums[r], i32, spread);
      for (int64_t c = 0; c < columns; ++c) {
        out[r * out_stride + column + c] += spread[2 * c] + spread[2 * c + 1];
      }
    }
  }
}

template <int kM>
void rows_i8(const uint8_t* a, int64_t a_stride, int64_t k4, const int8_t* panel, int32_t* out,
             int64_t out_stride) {
  const I16 i16;
  const U8Half u8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(i16));
  alignas(64) int16_t wide[kM * 4 * kStepsI8];
  for (int r = 0; r < kM; ++r) {
    std::memset(out + r * out_stride, 0, kPanel * sizeof(int32_t));
  }
  for (int64_t k = 0; k < k4; k += kStepsI8) {
    const int64_t steps = std::min(kStepsI8, k4 - k);
    for (int r = 0; r < kM; ++r) {
      const uint8_t* row = a + r * a_stride + k * 4;
      int16_t* to = wide + r * 4 * kStepsI8;
      int64_t i = 0;
      for (; i + lanes <= steps * 4; i += lanes) {
        hn::Store(hn::PromoteTo(i16, hn::LoadU(u8, row + i)), i16, to + i);
      }
      for (; i < steps * 4; ++i) {
        to[i] = row[i];
      }
    }
    add_steps_i8<kM>(wide, steps, panel + k * kPanel * 4, out, out_stride);
  }
}

void gemm_i8(const uint8_t* a, int64_t a_stride, int64_t m, int64_t k4, const int8_t* panel,
             int32_t* out, int64_t out_stride) {
  int64_t row = 0;
  for (; row + kRowsI8 <= m; row += kRowsI8) {
    rows_i8<kRowsI8>(a + row * a_stride, a_stride, k4, panel, out + row * out_stride, out_stride);
  }
  for (; row < m; ++row) {
    rows_i8<1>(a + row * a_stride, a_stride, k4, panel, out + row * out_stride, out_stride);
  }
}

}  // namespace

void fill_gemm(Kernels& kernels) {
  kernels.gemm_f32 = gemm_f32;
  kernels.gemm_add_f32 = gemm_add_f32;
  kernels.gemm_i8 = gemm_i8;
  kernels.gemm_bf16 = nullptr;
  kernels.gemm_i16 = nullptr;
  kernels.gemm_f32_bf16 = gemm_f32_bf16;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_gemm_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_gemm, kernels);
}

}  // namespace mynah::cpu
#endif
