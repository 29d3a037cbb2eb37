// A few queries over many keys, as every decode step asks: dot products, and the weighted mix of
// values. What is read of keys and values is widened once for all queries of a pass.
#include <cstddef>
#include <cstring>
#include <type_traits>

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

// Queries of a pass: their sums by four vectors of values stay in registers.
constexpr int kMostQueries = HWY_TARGET == HWY_AVX3 ? 4 : 2;

// Calls pass(first query, number of queries as a constant) for all of them, up to kMost at a time.
template <int kMost, class Pass>
HWY_INLINE void some_queries(int64_t count, int64_t first, const Pass& pass) {
  if constexpr (kMost > 1) {
    if (count < kMost) {
      some_queries<kMost - 1>(count, first, pass);
      return;
    }
  }
  pass(first, std::integral_constant<int, kMost>());
}

template <class Pass>
HWY_INLINE void for_queries(int64_t count, const Pass& pass) {
  // As many in each pass.
  const int64_t passes = (count + kMostQueries - 1) / kMostQueries;
  int64_t first = 0;
  for (int64_t left = passes; left > 0; --left) {
    const int64_t queries = (count - first + left - 1) / left;
    some_queries<kMostQueries>(queries, first, pass);
    first += queries;
  }
}

// The elements of rows one after another, and of what is read after them.
template <class Element>
struct Elements {
  explicit Elements(const HeadRows& from)
      : rows(reinterpret_cast<const Element*>(from.rows)),
        next(reinterpret_cast<const Element*>(from.next)),
        stride(static_cast<int64_t>(from.row_bytes / sizeof(Element))) {
    if (next == nullptr) {
      constexpr int64_t kAhead = 32;
      next = rows + kAhead * stride;
    }
  }

  // Asks for d elements from channel c on of what is read after row i: rows of a cache lie apart,
  // which processors do not foresee.
  HWY_INLINE void fetch(int64_t i, int64_t c, int64_t d) const {
    constexpr int64_t kLine = 64 / sizeof(Element);
    for (const int64_t end = c + d; c < end; c += kLine) {
      hwy::Prefetch(next + i * stride + c);
    }
  }

  const Element* rows;
  const Element* next;
  int64_t stride;
};

// Products of queries with one key, summed to four; the channels past the last pair of vectors are
// not in it.
template <class Load, int kQueries>
HWY_INLINE void partial_dots(const float* q, int64_t q_stride, const typename Load::Element* key,
                             int64_t whole, hn::Vec<hn::CappedTag<float, 4>> (&sums)[kQueries][4],
                             int at) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  V sum0[kQueries];
  V sum1[kQueries];
#pragma GCC unroll 4
  for (int i = 0; i < kQueries; ++i) {
    sum0[i] = sum1[i] = hn::Zero(f);
  }
  for (int64_t c = 0; c < whole; c += 2 * lanes) {
    const V key0 = Load::load(key + c);
    const V key1 = Load::load(key + c + lanes);
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
      sum0[i] = hn::MulAdd(hn::LoadU(f, q + i * q_stride + c), key0, sum0[i]);
      sum1[i] = hn::MulAdd(hn::LoadU(f, q + i * q_stride + c + lanes), key1, sum1[i]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kQueries; ++i) {
    sums[i][at] = sum_to_four(hn::Add(sum0[i], sum1[i]));
  }
}

template <class Load, int kQueries>
HWY_INLINE void dots_pass(const float* q, int64_t q_stride, const HeadRows& keys, float scale,
                          float* out, int64_t out_stride) {
  const hn::CappedTag<float, 4> f4;
  const int64_t pair = 2 * static_cast<int64_t>(hn::Lanes(F()));
  const int64_t whole = keys.d / pair * pair;
  const Elements<typename Load::Element> from(keys);
  hn::Vec<decltype(f4)> s[kQueries][4];
  int64_t i = 0;
  for (; i + 4 <= keys.n; i += 4) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      from.fetch(i + k, 0, keys.d);
      partial_dots<Load, kQueries>(q, q_stride, from.rows + (i + k) * from.stride, whole, s, k);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kQueries; ++j) {
      // Four by four transposed while it is added up.
      const auto s01 = hn::Add(hn::InterleaveLower(f4, s[j][0], s[j][1]),
                               hn::InterleaveUpper(f4, s[j][0], s[j][1]));
      const auto s23 = hn::Add(hn::InterleaveLower(f4, s[j][2], s[j][3]),
                               hn::InterleaveUpper(f4, s[j][2], s[j][3]));
      const auto sums =
          hn::Add(hn::ConcatLowerLower(f4, s23, s01), hn::ConcatUpperUpper(f4, s23, s01));
      hn::StoreU(hn::Mul(sums, hn::Set(f4, scale)), f4, out + j * out_stride + i);
    }
  }
  for (; i < keys.n; ++i) {
    partial_dots<Load, kQueries>(q, q_stride, from.rows + i * from.stride, whole, s, 0);
    for (int j = 0; j < kQueries; ++j) {
      out[j * out_stride + i] = hn::GetLane(hn::SumOfLanes(f4, s[j][0])) * scale;
    }
  }
  for (int64_t c = whole; c < keys.d; ++c) {
    for (i = 0; i < keys.n; ++i) {
      const float key = Load::one(from.rows + i * from.stride + c);
      for (int64_t j = 0; j < kQueries; ++j) {
        out[j * out_stride + i] += q[j * q_stride + c] * key * scale;
      }
    }
  }
}

template <class Load>
void dots(const HeadQueries& queries, const HeadRows& keys, float scale, float* out,
          int64_t out_stride) {
  for_queries(queries.count, [&](int64_t first, auto count) HWY_ATTR {
    dots_pass<Load, decltype(count)::value>(queries.rows + first * queries.stride, queries.stride,
                                            keys, scale, out + first * out_stride, out_stride);
  });
}

// Keeps the outputs' vectors in registers over all values: kVectors of them cover d in the usual
// case (64 channels are four vectors of AVX-512, eight of AVX2). From channel c on.
template <class Load, int kQueries, int kVectors>
HWY_INLINE void mix_block(const float* p, int64_t p_stride, const HeadRows& values, int64_t c,
                          float* out, int64_t out_stride) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const Elements<typename Load::Element> from(values);
  V sums[kQueries][kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kQueries; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[j][v] = hn::LoadU(f, out + j * out_stride + c + v * lanes);
    }
  }
  for (int64_t i = 0; i < values.n; ++i) {
    from.fetch(i, c, kVectors * lanes);
    V wide[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      wide[v] = Load::load(from.rows + i * from.stride + c + v * lanes);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kQueries; ++j) {
      const V weight = hn::Set(f, p[j * p_stride + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[j][v] = hn::MulAdd(weight, wide[v], sums[j][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kQueries; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[j][v], f, out + j * out_stride + c + v * lanes);
    }
  }
}

template <class Load>
void mix(const HeadQueries& weights, const HeadRows& values, float* out, int64_t out_stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for_queries(weights.count, [&](int64_t first, auto count) HWY_ATTR {
    constexpr int kQueries = decltype(count)::value;
    const float* const p = weights.rows + first * weights.stride;
    float* const to = out + first * out_stride;
    int64_t c = 0;
    for (; c + 4 * lanes <= values.d; c += 4 * lanes) {
      mix_block<Load, kQueries, 4>(p, weights.stride, values, c, to, out_stride);
    }
    for (; c + lanes <= values.d; c += lanes) {
      mix_block<Load, kQueries, 1>(p, weights.stride, values, c, to, out_stride);
    }
    const Elements<typename Load::Element> from(values);
    for (; c < values.d; ++c) {
      for (int64_t i = 0; i < values.n; ++i) {
        const float value = Load::one(from.rows + i * from.stride + c);
        for (int64_t j = 0; j < kQueries; ++j) {
          to[j * out_stride + c] += p[j * weights.stride + i] * value;
        }
      }
    }
  });
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

void dots_q8_0(const HeadQueries& queries, const HeadRows& keys, float scale, float* out,
               int64_t out_stride) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t i = 0; i < keys.n; ++i) {
    const std::byte* const row = keys.rows + static_cast<size_t>(i) * keys.row_bytes;
    for (int64_t j = 0; j < queries.count; ++j) {
      const float* const q = queries.rows + j * queries.stride;
      Q8Block block{row};
      V sum = hn::Zero(f);
      for (int64_t c = 0; c < keys.d; c += kBlockElements, block.at += Q8Block::kBytes) {
        V products = hn::Zero(f);
        for (int64_t k = 0; k < kBlockElements; k += lanes) {
          products = hn::MulAdd(hn::LoadU(f, q + c + k), block.codes(k), products);
        }
        sum = hn::MulAdd(products, hn::Set(f, block.scale()), sum);
      }
      out[j * out_stride + i] = hn::GetLane(hn::SumOfLanes(f, sum)) * scale;
    }
  }
}

void mix_q8_0(const HeadQueries& weights, const HeadRows& values, float* out, int64_t out_stride) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  constexpr auto kLeastLanes = 4;
  V sums[kBlockElements / kLeastLanes];
  for (int64_t q = 0; q < weights.count; ++q, out += out_stride) {
    const float* const p = weights.rows + q * weights.stride;
    for (int64_t c = 0; c < values.d; c += kBlockElements) {
      for (int64_t j = 0; j < kBlockElements; j += lanes) {
        sums[j / lanes] = hn::LoadU(f, out + c + j);
      }
      Q8Block block{values.rows + static_cast<size_t>(c / kBlockElements) * Q8Block::kBytes};
      for (int64_t i = 0; i < values.n; ++i, block.at += values.row_bytes) {
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
