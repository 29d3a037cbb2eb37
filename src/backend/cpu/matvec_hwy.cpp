// Products of one row with whole weights: bound by the weights' way from the caches, so
// that what a zero would multiply is not read.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/matvec_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// Vectors of a panel's 32 columns, and panels whose sums stay in registers together: enough sums
// that none waits for the one before it.
inline constexpr int kVectors = static_cast<int>(kPanel / hn::MaxLanes(F()));
inline constexpr int kPanelsTogether = HWY_TARGET == HWY_AVX3 ? 4 : HWY_TARGET == HWY_AVX2 ? 2 : 1;

int64_t nonzeros(const float* x, int64_t n, int32_t* out) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t count = 0;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto here = hn::Ne(hn::LoadU(f, x + i), hn::Zero(f));
    const auto mask = hn::RebindMask(i32, here);
    const auto index = hn::Iota(i32, static_cast<int32_t>(i));
    // A whole vector, which ends before out + n: count <= i.
    hn::StoreU(hn::Compress(index, mask), i32, out + count);
    count += static_cast<int64_t>(hn::CountTrue(i32, mask));
  }
  for (; i < n; ++i) {
    out[count] = static_cast<int32_t>(i);
    count += x[i] != 0.0F ? 1 : 0;
  }
  return count;
}

template <int kPanels>
HWY_INLINE void add_panels(const float* HWY_RESTRICT x, const int32_t* HWY_RESTRICT at,
                           int64_t count, const float* HWY_RESTRICT panels, int64_t panel_stride,
                           float* HWY_RESTRICT out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  V sums[kPanels][kVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[p][v] = hn::Zero(f);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = at[i];
    const V value = hn::Set(f, x[k]);
    const float* row = panels + k * kPanel;
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sums[p][v] =
            hn::MulAdd(value, hn::LoadU(f, row + p * panel_stride + v * lanes), sums[p][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[p][v], f, out + p * kPanel + v * lanes);
    }
  }
}

void matvec_f32(const float* x, const int32_t* at, int64_t count, const float* panels,
                int64_t panel_stride, int64_t n_panels, float* out) {
  int64_t p = 0;
  for (; p + kPanelsTogether <= n_panels; p += kPanelsTogether) {
    add_panels<kPanelsTogether>(x, at, count, panels + p * panel_stride, panel_stride,
                                out + p * kPanel);
  }
  if constexpr (kPanelsTogether > 2) {
    for (; p + 2 <= n_panels; p += 2) {
      add_panels<2>(x, at, count, panels + p * panel_stride, panel_stride, out + p * kPanel);
    }
  }
  for (; p < n_panels; ++p) {
    add_panels<1>(x, at, count, panels + p * panel_stride, panel_stride, out + p * kPanel);
  }
}

}  // namespace

void fill_matvec(Kernels& kernels) {
  kernels.nonzeros = nonzeros;
  kernels.matvec_f32 = matvec_f32;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_matvec_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_matvec, kernels);
}

}  // namespace mynah::cpu
#endif
