// One query over many keys, as every decode step asks: dot products, and the weighted mix of
// values.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

struct LoadF32 {
  using Element = float;

  static HWY_INLINE V load(const float* p) { return hn::LoadU(F(), p); }

  static HWY_INLINE float one(const float* p) { return *p; }
};

struct LoadBf16 {
  using Element = uint16_t;

  static HWY_INLINE V load(const uint16_t* p) {
    const hn::RebindToUnsigned<F> u32;
    return hn::BitCast(
        F(), hn::ShiftLeft<16>(hn::PromoteTo(u32, hn::LoadU(hn::Rebind<uint16_t, F>(), p))));
  }

  static HWY_INLINE float one(const uint16_t* p) { return hwy::F32FromBF16(hwy::bfloat16_t{*p}); }
};

struct LoadF16 {
  using Element = uint16_t;

  static HWY_INLINE V load(const uint16_t* p) {
    const hn::Rebind<hwy::float16_t, F> f16;
    return hn::PromoteTo(F(), hn::LoadU(f16, reinterpret_cast<const hwy::float16_t*>(p)));
  }

  static HWY_INLINE float one(const uint16_t* p) {
    const hn::CappedTag<float, 1> f1;
    const hn::Rebind<hwy::float16_t, decltype(f1)> h1;
    return hn::GetLane(
        hn::PromoteTo(f1, hn::LoadU(h1, reinterpret_cast<const hwy::float16_t*>(p))));
  }
};

template <class Load>
void dots(const float* q, const typename Load::Element* keys, int64_t stride, int64_t n, int64_t d,
          float scale, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t i = 0; i < n; ++i) {
    const auto* key = keys + i * stride;
    V sum0 = hn::Zero(f);
    V sum1 = hn::Zero(f);
    int64_t c = 0;
    for (; c + 2 * lanes <= d; c += 2 * lanes) {
      sum0 = hn::MulAdd(hn::LoadU(f, q + c), Load::load(key + c), sum0);
      sum1 = hn::MulAdd(hn::LoadU(f, q + c + lanes), Load::load(key + c + lanes), sum1);
    }
    float sum = hn::GetLane(hn::SumOfLanes(f, hn::Add(sum0, sum1)));
    for (; c < d; ++c) {
      sum += q[c] * Load::one(key + c);
    }
    out[i] = sum * scale;
  }
}

// Keeps the output's vectors in registers over all values: kVectors of them cover d in the usual
// case (64 channels are four vectors of AVX-512, eight of AVX2).
template <class Load, int kVectors>
HWY_INLINE void mix_block(const float* p, const typename Load::Element* values, int64_t stride,
                          int64_t n, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  V sums[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = hn::LoadU(f, out + v * lanes);
  }
  for (int64_t i = 0; i < n; ++i) {
    const V weight = hn::Set(f, p[i]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = hn::MulAdd(weight, Load::load(values + i * stride + v * lanes), sums[v]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    hn::StoreU(sums[v], f, out + v * lanes);
  }
}

template <class Load>
void mix(const float* p, const typename Load::Element* values, int64_t stride, int64_t n, int64_t d,
         float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  int64_t c = 0;
  for (; c + 4 * lanes <= d; c += 4 * lanes) {
    mix_block<Load, 4>(p, values + c, stride, n, out + c);
  }
  for (; c + lanes <= d; c += lanes) {
    mix_block<Load, 1>(p, values + c, stride, n, out + c);
  }
  for (; c < d; ++c) {
    for (int64_t i = 0; i < n; ++i) {
      out[c] += p[i] * Load::one(values + i * stride + c);
    }
  }
}

}  // namespace

void fill_attention(Kernels& kernels) {
  kernels.dots_f32 = dots<LoadF32>;
  kernels.dots_f16 = dots<LoadF16>;
  kernels.dots_bf16 = dots<LoadBf16>;
  kernels.mix_f32 = mix<LoadF32>;
  kernels.mix_f16 = mix<LoadF16>;
  kernels.mix_bf16 = mix<LoadBf16>;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_attention_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_attention, kernels);
}

}  // namespace mynah::cpu
#endif
