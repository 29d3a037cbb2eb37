// One query over many keys, as every decode step asks: dot products, and the weighted mix of
// values.
#include <cstddef>
#include <cstring>

#include "backend/cpu/kernel_parts.h"
#include "tensor/blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_hwy.cpp"
#include <hwy/cache_control.h>
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

// Lanes of a vector summed down to four, so that four keys' sums can finish together.
HWY_INLINE hn::Vec<hn::CappedTag<float, 4>> sum_to_four(V v) {
#if HWY_TARGET == HWY_AVX3
  const hn::Half<F> half;
  const auto eight = hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
  const hn::Half<decltype(half)> quarter;
  return hn::Add(hn::LowerHalf(quarter, eight), hn::UpperHalf(quarter, eight));
#elif HWY_TARGET == HWY_AVX2
  const hn::Half<F> half;
  return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
#else
  return v;
#endif
}

// Products of a query with one key, lane by lane; the channels past the last pair of vectors are
// not in it.
template <class Load>
HWY_INLINE V partial_dot(const float* q, const typename Load::Element* key, int64_t whole) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  V sum0 = hn::Zero(f);
  V sum1 = hn::Zero(f);
  for (int64_t c = 0; c < whole; c += 2 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(f, q + c), Load::load(key + c), sum0);
    sum1 = hn::MulAdd(hn::LoadU(f, q + c + lanes), Load::load(key + c + lanes), sum1);
  }
  return hn::Add(sum0, sum1);
}

// Asks for a row of d elements that is read kAhead rows later: rows of a cache lie apart, which
// processors do not foresee.
template <class Element>
HWY_INLINE void fetch_later(const Element* row, int64_t stride, int64_t d) {
  constexpr int64_t kAhead = 32;
  constexpr int64_t kLine = 64 / sizeof(Element);
  for (int64_t c = 0; c < d; c += kLine) {
    hwy::Prefetch(row + kAhead * stride + c);
  }
}

template <class Load>
void dots(const float* q, const typename Load::Element* keys, int64_t stride, int64_t n, int64_t d,
          float scale, float* out) {
  const hn::CappedTag<float, 4> f4;
  const int64_t pair = 2 * static_cast<int64_t>(hn::Lanes(F()));
  const int64_t whole = d / pair * pair;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const auto* key = keys + i * stride;
    for (int64_t k = 0; k < 4; ++k) {
      fetch_later(key + k * stride, stride, d);
    }
    const auto s0 = sum_to_four(partial_dot<Load>(q, key, whole));
    const auto s1 = sum_to_four(partial_dot<Load>(q, key + stride, whole));
    const auto s2 = sum_to_four(partial_dot<Load>(q, key + 2 * stride, whole));
    const auto s3 = sum_to_four(partial_dot<Load>(q, key + 3 * stride, whole));
    // Four by four transposed while it is added up.
    const auto s01 = hn::Add(hn::InterleaveLower(f4, s0, s1), hn::InterleaveUpper(f4, s0, s1));
    const auto s23 = hn::Add(hn::InterleaveLower(f4, s2, s3), hn::InterleaveUpper(f4, s2, s3));
    const auto sums =
        hn::Add(hn::ConcatLowerLower(f4, s23, s01), hn::ConcatUpperUpper(f4, s23, s01));
    hn::StoreU(hn::Mul(sums, hn::Set(f4, scale)), f4, out + i);
  }
  for (; i < n; ++i) {
    const auto four = sum_to_four(partial_dot<Load>(q, keys + i * stride, whole));
    out[i] = hn::GetLane(hn::SumOfLanes(f4, four)) * scale;
  }
  for (int64_t c = whole; c < d; ++c) {
    for (int64_t j = 0; j < n; ++j) {
      out[j] += q[c] * Load::one(keys + j * stride + c) * scale;
    }
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
    fetch_later(values + i * stride, stride, kVectors * lanes);
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

// A block of Q8_0 (ggml-common.h block_q8_0): a scale in half precision, then kBlockElements codes.
struct Q8Block {
  static constexpr size_t kBytes = sizeof(uint16_t) + kBlockElements;

  const std::byte* at;

  [[nodiscard]] HWY_INLINE float scale() const {
    uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    return LoadF16::one(&bits);
  }

  // A vector of codes from element `i` on.
  [[nodiscard]] HWY_INLINE V codes(int64_t i) const {
    const hn::Rebind<int8_t, F> i8;
    const hn::RebindToSigned<F> i32;
    const auto* const first = reinterpret_cast<const int8_t*>(at + sizeof(uint16_t)) + i;
    return hn::ConvertTo(F(), hn::PromoteTo(i32, hn::LoadU(i8, first)));
  }
};

void dots_q8_0(const float* q, const std::byte* keys, size_t row_bytes, int64_t n, int64_t d,
               float scale, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t i = 0; i < n; ++i) {
    Q8Block block{keys + static_cast<size_t>(i) * row_bytes};
    V sum = hn::Zero(f);
    for (int64_t c = 0; c < d; c += kBlockElements, block.at += Q8Block::kBytes) {
      V products = hn::Zero(f);
      for (int64_t j = 0; j < kBlockElements; j += lanes) {
        products = hn::MulAdd(hn::LoadU(f, q + c + j), block.codes(j), products);
      }
      sum = hn::MulAdd(products, hn::Set(f, block.scale()), sum);
    }
    out[i] = hn::GetLane(hn::SumOfLanes(f, sum)) * scale;
  }
}

void mix_q8_0(const float* p, const std::byte* values, size_t row_bytes, int64_t n, int64_t d,
              float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  constexpr auto kLeastLanes = 4;
  V sums[kBlockElements / kLeastLanes];
  for (int64_t c = 0; c < d; c += kBlockElements) {
    for (int64_t j = 0; j < kBlockElements; j += lanes) {
      sums[j / lanes] = hn::LoadU(f, out + c + j);
    }
    Q8Block block{values + static_cast<size_t>(c / kBlockElements) * Q8Block::kBytes};
    for (int64_t i = 0; i < n; ++i, block.at += row_bytes) {
      const V weight = hn::Set(f, p[i] * block.scale());
      for (int64_t j = 0; j < kBlockElements; j += lanes) {
        sums[j / lanes] = hn::MulAdd(weight, block.codes(j), sums[j / lanes]);
      }
    }
    for (int64_t j = 0; j < kBlockElements; j += lanes) {
      hn::StoreU(sums[j / lanes], f, out + c + j);
    }
  }
}

// A pair as a complex number, times another of the angle.
struct Turned {
  V first;
  V second;
};

HWY_INLINE Turned turned(V a, V b, V cosine, V sine) {
  return {hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), hn::MulAdd(a, sine, hn::Mul(b, cosine))};
}

void rope(const float* x, const float* turns, int64_t pairs, RopePairs kind, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const bool halves = kind == RopePairs::Halves;
  int64_t i = 0;
  for (; i + lanes <= pairs; i += lanes) {
    const V cosine = hn::LoadU(f, turns + i);
    const V sine = hn::LoadU(f, turns + pairs + i);
    if (halves) {
      const Turned t = turned(hn::LoadU(f, x + i), hn::LoadU(f, x + pairs + i), cosine, sine);
      hn::StoreU(t.first, f, out + i);
      hn::StoreU(t.second, f, out + pairs + i);
    } else {
      V a;
      V b;
      hn::LoadInterleaved2(f, x + 2 * i, a, b);
      const Turned t = turned(a, b, cosine, sine);
      hn::StoreInterleaved2(t.first, t.second, f, out + 2 * i);
    }
  }
  for (; i < pairs; ++i) {
    const int64_t first = halves ? i : 2 * i;
    const int64_t second = halves ? pairs + i : 2 * i + 1;
    const float a = x[first];
    const float b = x[second];
    out[first] = a * turns[i] - b * turns[pairs + i];
    out[second] = a * turns[pairs + i] + b * turns[i];
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
  kernels.dots_q8_0 = dots_q8_0;
  kernels.mix_q8_0 = mix_q8_0;
  kernels.rope = rope;
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
