// Products with ggml's block types for every instruction set, and what precedes them: codes and
// scales of weights unpacked, activations rounded.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/blocks_hwy.cpp"
#include <algorithm>
#include <cstring>
#include <type_traits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;
using U8 = hn::ScalableTag<uint8_t>;
using U16 = hn::Repartition<uint16_t, U8>;
using I32 = hn::ScalableTag<int32_t>;
using I16 = hn::Repartition<int16_t, I32>;

constexpr int64_t kStepBytes = 4 * kPanel;  // of four elements
constexpr int kSteps = static_cast<int>(kBlockRows / 4);

// Bits of 16-bit numbers moved left, or right where kBy is negative: what crosses a byte's border
// is for the caller to mask.
template <int kBy>
HWY_INLINE hn::Vec<U8> moved(hn::Vec<U8> bytes) {
  const U16 u16;
  const U8 u8;
  const auto wide = hn::BitCast(u16, bytes);
  if constexpr (kBy >= 0) {
    return hn::BitCast(u8, hn::ShiftLeft<kBy>(wide));
  } else {
    return hn::BitCast(u8, hn::ShiftRight<-kBy>(wide));
  }
}

// What one step's codes have above their fourth bit, at `column` bytes into the step; `high` is
// where the upper bits of the block begin.
template <CodeBits kBits, int kStep>
HWY_INLINE hn::Vec<U8> upper_bits(const uint8_t* high, int64_t column) {
  const U8 u8;
  if constexpr (kBits == CodeBits::Five) {
    return hn::And(moved<4 - kStep>(hn::LoadU(u8, high + column)), hn::Set(u8, 0x10));
  } else {
    const uint8_t* own = high + kStep / 4 * kStepBytes + column;
    return hn::And(moved<4 - kStep % 4 * 2>(hn::LoadU(u8, own)), hn::Set(u8, 0x30));
  }
}

// Steps 2 kPair and 2 kPair + 1 of a block.
template <CodeBits kBits, int kPair>
HWY_INLINE void unpack_pair(const uint8_t* from, const hn::Vec<U8>& table, uint8_t* out) {
  const U8 u8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(u8));
  const auto mask = hn::Set(u8, 0x0F);
  for (int64_t column = 0; column < kStepBytes; column += lanes) {
    const auto both = hn::LoadU(u8, from + kPair * kStepBytes + column);
    auto first = hn::And(both, mask);
    auto second = hn::And(moved<-4>(both), mask);
    if constexpr (kBits == CodeBits::Table) {
      first = hn::TableLookupBytes(table, first);
      second = hn::TableLookupBytes(table, second);
    } else if constexpr (kBits != CodeBits::Four) {
      const uint8_t* high = from + 4 * kStepBytes;
      first = hn::Or(first, upper_bits<kBits, 2 * kPair>(high, column));
      second = hn::Or(second, upper_bits<kBits, 2 * kPair + 1>(high, column));
    }
    hn::StoreU(first, u8, out + 2 * kPair * kStepBytes + column);
    hn::StoreU(second, u8, out + (2 * kPair + 1) * kStepBytes + column);
  }
}

template <CodeBits kBits>
HWY_INLINE void unpack_blocks(const uint8_t* from, int64_t stride, int64_t blocks,
                              const uint8_t* table, uint8_t* out) {
  const auto codes = hn::LoadDup128(U8(), table);
  for (int64_t b = 0; b < blocks; ++b, from += stride, out += kSteps * kStepBytes) {
    unpack_pair<kBits, 0>(from, codes, out);
    unpack_pair<kBits, 1>(from, codes, out);
    unpack_pair<kBits, 2>(from, codes, out);
    unpack_pair<kBits, 3>(from, codes, out);
  }
}

void unpack_codes(CodeBits bits, const std::byte* from, int64_t blocks, const uint8_t* table,
                  uint8_t* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  switch (bits) {
    case CodeBits::Five:
      return unpack_blocks<CodeBits::Five>(bytes, 5 * kStepBytes, blocks, table, out);
    case CodeBits::Six:
      return unpack_blocks<CodeBits::Six>(bytes, 6 * kStepBytes, blocks, table, out);
    case CodeBits::Table:
      return unpack_blocks<CodeBits::Table>(bytes, 4 * kStepBytes, blocks, table, out);
    default:
      return unpack_blocks<CodeBits::Four>(bytes, 4 * kStepBytes, blocks, table, out);
  }
}

void scale_groups(const float* shared, const int8_t* codes, int64_t groups, float* out) {
  const F f;
  const I32 i32;
  const hn::Rebind<int8_t, F> i8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t c = 0; c < kPanel; c += lanes) {
    const V scale = hn::LoadU(f, shared + c);
    for (int64_t at = c; at < groups * kPanel; at += kPanel) {
      const V code = hn::ConvertTo(f, hn::PromoteTo(i32, hn::LoadU(i8, codes + at)));
      hn::StoreU(hn::Mul(code, scale), f, out + at);
    }
  }
}

struct Larger {
  template <class W>
  HWY_INLINE W operator()(W a, W b) const {
    return hn::Max(a, b);
  }
};

struct Sum {
  template <class W>
  HWY_INLINE W operator()(W a, W b) const {
    return hn::Add(a, b);
  }
};

// A vector's lanes reduced to four.
template <class D, class Op, class Four = hn::CappedTag<hn::TFromD<D>, 4>>
HWY_INLINE hn::Vec<Four> to_four(D, hn::Vec<D> v, const Op& op) {
  if constexpr (std::is_same_v<hn::Vec<D>, hn::Vec<Four>>) {
    return v;
  } else {
    const hn::Half<D> half;
    return to_four(half, op(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), op);
  }
}

// Four vectors, each reduced to a number of `out`.
template <class D, class Op>
HWY_INLINE void reduce_four(D d, const hn::Vec<D> (&v)[4], const Op& op, hn::TFromD<D>* out) {
  const hn::CappedTag<hn::TFromD<D>, 4> d4;
  const auto v0 = to_four(d, v[0], op);
  const auto v1 = to_four(d, v[1], op);
  const auto v2 = to_four(d, v[2], op);
  const auto v3 = to_four(d, v[3], op);
  // Transposed meanwhile.
  const auto v01 = op(hn::InterleaveLower(d4, v0, v1), hn::InterleaveUpper(d4, v0, v1));
  const auto v23 = op(hn::InterleaveLower(d4, v2, v3), hn::InterleaveUpper(d4, v2, v3));
  hn::StoreU(op(hn::ConcatLowerLower(d4, v23, v01), hn::ConcatUpperUpper(d4, v23, v01)), d4, out);
}

// Sums of codes of a group, by its number among all rows' groups.
HWY_INLINE void put_group(const BlockRows& out, int64_t g, float scale, int32_t total) {
  out.starts[g] = -out.zero * total;
  if (out.sums != nullptr) {
    out.sums[g] = scale * static_cast<float>(total);
  }
}

// Codes of `count` elements; returns their sums, lane by lane.
HWY_INLINE hn::Vec<I32> round_codes(const float* x, V inverse, int64_t count, int8_t* codes) {
  const F f;
  const I32 i32;
  const hn::Rebind<int8_t, F> i8;
  auto sum = hn::Zero(i32);
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(f))) {
    const auto code = hn::NearestInt(hn::Mul(hn::LoadU(f, x + i), inverse));
    hn::StoreU(hn::DemoteTo(i8, code), i8, codes + i);
    sum = hn::Add(sum, code);
  }
  return sum;
}

HWY_INLINE V largest_of(const float* x) {
  const F f;
  V largest = hn::Zero(f);
  for (int64_t i = 0; i < kBlockRows; i += static_cast<int64_t>(hn::Lanes(f))) {
    largest = hn::Max(largest, hn::Abs(hn::LoadU(f, x + i)));
  }
  return largest;
}

// The block x, number b of all rows' blocks.
HWY_INLINE void quantize_one(const float* x, const BlockRows& out, int64_t b) {
  const F f;
  const int64_t group = kBlockRows / out.groups;
  const float peak = hn::GetLane(hn::MaxOfLanes(f, largest_of(x)));
  const V inverse = hn::Set(f, peak > 0.0F ? 127.0F / peak : 0.0F);
  out.scales[b] = peak / 127.0F;
  for (int64_t g = 0; g < out.groups; ++g) {
    const auto sum =
        round_codes(x + g * group, inverse, group, out.codes + b * kBlockRows + g * group);
    put_group(out, b * out.groups + g, out.scales[b], hn::GetLane(hn::SumOfLanes(I32(), sum)));
  }
}

// The same of four, whose reductions go together.
HWY_INLINE void quantize_four(const float* x, const BlockRows& out, int64_t b) {
  const F f;
  const I32 i32;
  const hn::CappedTag<float, 4> f4;
  const int64_t group = kBlockRows / out.groups;
  V largest[4];
  for (int64_t i = 0; i < 4; ++i) {
    largest[i] = largest_of(x + i * kBlockRows);
  }
  float peaks[4];
  reduce_four(f, largest, Larger(), peaks);
  const auto peak = hn::LoadU(f4, peaks);
  const auto steps = hn::Set(f4, 127.0F);
  float inverses[4];
  hn::StoreU(hn::IfThenElseZero(hn::Gt(peak, hn::Zero(f4)), hn::Div(steps, peak)), f4, inverses);
  hn::StoreU(hn::Div(peak, steps), f4, out.scales + b);
  for (int64_t g = 0; g < out.groups; ++g) {
    hn::Vec<I32> sums[4];
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t at = i * kBlockRows + g * group;
      sums[i] =
          round_codes(x + at, hn::Set(f, inverses[i]), group, out.codes + b * kBlockRows + at);
    }
    int32_t totals[4];
    reduce_four(i32, sums, Sum(), totals);
    for (int64_t i = 0; i < 4; ++i) {
      put_group(out, (b + i) * out.groups + g, out.scales[b + i], totals[i]);
    }
  }
}

void quantize_blocks(const float* x, const BlockRows& out, int64_t r) {
  const int64_t end = (r + 1) * out.blocks;
  int64_t b = r * out.blocks;
  for (; b + 4 <= end; b += 4, x += 4 * kBlockRows) {
    quantize_four(x, out, b);
  }
  for (; b < end; ++b, x += kBlockRows) {
    quantize_one(x, out, b);
  }
}

// Rows of a pass: sums of as many by two vectors, the weights and one row's numbers.
inline constexpr int kRows = HWY_TARGET == HWY_AVX3 ? 12 : 4;

// Sums of neighbours, which are halves of one column's, in the columns' order.
HWY_INLINE hn::Vec<I32> columns_of(hn::Vec<I32> low, hn::Vec<I32> high) {
  const I32 i32;
  low = hn::Add(low, hn::Shuffle2301(low));
  high = hn::Add(high, hn::Shuffle2301(high));
  return hn::ConcatEven(i32, high, low);
}

// A group of kM rows and one vector of columns of f32, from `w` on; x: the rows' numbers in 16
// bits, kBlockRows apart.
template <int kM>
HWY_INLINE void group_sums(const int16_t* x, int64_t steps, const uint8_t* w,
                           const hn::Vec<I32>* starts, hn::Vec<I32>* out) {
  const I32 i32;
  const I16 i16;
  const hn::Rebind<uint8_t, I16> u8;
  const hn::Repartition<int64_t, I32> i64;
  const auto half = static_cast<int64_t>(hn::Lanes(i16));
  hn::Vec<I32> sums[kM][2];
#pragma GCC unroll 16
  for (int r = 0; r < kM; ++r) {
    sums[r][0] = sums[r][1] = hn::Zero(i32);
  }
  for (int64_t k = 0; k < steps; ++k, w += kStepBytes) {
    const auto low = hn::PromoteTo(i16, hn::LoadU(u8, w));
    const auto high = hn::PromoteTo(i16, hn::LoadU(u8, w + half));
#pragma GCC unroll 16
    for (int r = 0; r < kM; ++r) {
      int64_t four;
      std::memcpy(&four, x + r * kBlockRows + k * 4, sizeof(four));
      const auto numbers = hn::BitCast(i16, hn::Set(i64, four));
      auto unused = hn::Zero(i32);
      sums[r][0] = hn::ReorderWidenMulAccumulate(i32, low, numbers, sums[r][0], unused);
      sums[r][1] = hn::ReorderWidenMulAccumulate(i32, high, numbers, sums[r][1], unused);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kM; ++r) {
    out[r] = hn::Add(starts[r], columns_of(sums[r][0], sums[r][1]));
  }
}

template <int kM>
HWY_INLINE void rows_products(const BlockRows& x, int64_t row, const BlockChunk& chunk,
                              float* tile) {
  const F f;
  const I32 i32;
  const I16 i16;
  const hn::Rebind<int8_t, I16> i8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto wide_lanes = static_cast<int64_t>(hn::Lanes(i16));
  const int64_t group = kBlockRows / x.groups;
  alignas(64) int16_t wide[kM * kBlockRows];
  for (int64_t b = 0; b < chunk.blocks; ++b) {
    const int64_t block = chunk.first + b;
    for (int64_t r = 0; r < kM; ++r) {
      const int8_t* codes = x.codes + ((row + r) * x.blocks + block) * kBlockRows;
      for (int64_t i = 0; i < kBlockRows; i += wide_lanes) {
        hn::Store(hn::PromoteTo(i16, hn::LoadU(i8, codes + i)), i16, wide + r * kBlockRows + i);
      }
    }
    for (int64_t g = 0; g < x.groups; ++g) {
      const uint8_t* w = chunk.codes + (b * kSteps + g * group / 4) * kStepBytes;
      const int64_t at = (b * x.groups + g) * kPanel;
      hn::Vec<I32> starts[kM];
      for (int r = 0; r < kM; ++r) {
        starts[r] = hn::Set(i32, x.starts[((row + r) * x.blocks + block) * x.groups + g]);
      }
      for (int64_t c = 0; c < kPanel; c += lanes) {
        hn::Vec<I32> sums[kM];
        group_sums<kM>(wide + g * group, group / 4, w + c * 4, starts, sums);
        const V scale = hn::LoadU(f, chunk.scales + at + c);
        for (int64_t r = 0; r < kM; ++r) {
          float* to = tile + r * kPanel + c;
          const V own = hn::Set(f, x.scales[(row + r) * x.blocks + block]);
          V y = hn::MulAdd(hn::Mul(hn::ConvertTo(f, sums[r]), scale), own, hn::LoadU(f, to));
          if (chunk.minima != nullptr) {
            const V sum = hn::Set(f, x.sums[((row + r) * x.blocks + block) * x.groups + g]);
            y = hn::MulAdd(hn::LoadU(f, chunk.minima + at + c), sum, y);
          }
          hn::StoreU(y, f, to);
        }
      }
    }
  }
}

void block_products(const BlockRows& x, int64_t row, int64_t m, const BlockChunk& chunk,
                    float* tile) {
  if (chunk.first == 0) {
    std::memset(tile, 0, static_cast<size_t>(m * kPanel) * sizeof(float));
  }
  int64_t at = 0;
  for (; at + kRows <= m; at += kRows) {
    rows_products<kRows>(x, row + at, chunk, tile + at * kPanel);
  }
  for (; at + 2 <= m; at += 2) {
    rows_products<2>(x, row + at, chunk, tile + at * kPanel);
  }
  if (at < m) {
    rows_products<1>(x, row + at, chunk, tile + at * kPanel);
  }
}

}  // namespace

void fill_blocks(Kernels& kernels) {
  kernels.unpack_codes = unpack_codes;
  kernels.scale_groups = scale_groups;
  kernels.quantize_blocks = quantize_blocks;
  kernels.block_products = block_products;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_block_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_blocks, kernels);
}

}  // namespace mynah::cpu
#endif
