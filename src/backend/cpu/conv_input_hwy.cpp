// What a convolution sees of its input: instance norm and activation on the way to a tile, codes of
// int8; and the sums that the norm is made of.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/conv_input_hwy.cpp"
#include <algorithm>
#include <cmath>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

// `count` numbers, zeros after them.
HWY_INLINE V some(const float* x, int64_t count) {
  HWY_ALIGN float lanes[hn::MaxLanes(F())] = {};
  std::memcpy(lanes, x, static_cast<size_t>(count) * sizeof(float));
  return hn::Load(F(), lanes);
}

// out = seen(x, at), where at(p) is what stands at p for the same channels; returns the largest
// |out|.
template <class Seen>
HWY_INLINE float map_row(const float* x, int64_t n, const Seen& seen, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  V peak0 = hn::Zero(f);
  V peak1 = hn::Zero(f);
  int64_t c = 0;
  for (; c + 2 * lanes <= n; c += 2 * lanes) {
    const V y0 =
        seen(hn::LoadU(f, x + c), [&](const float* p) HWY_ATTR { return hn::LoadU(f, p + c); });
    const V y1 = seen(hn::LoadU(f, x + c + lanes),
                      [&](const float* p) HWY_ATTR { return hn::LoadU(f, p + c + lanes); });
    hn::StoreU(y0, f, out + c);
    hn::StoreU(y1, f, out + c + lanes);
    peak0 = hn::Max(peak0, hn::Abs(y0));
    peak1 = hn::Max(peak1, hn::Abs(y1));
  }
  for (; c < n; c += lanes) {
    const int64_t count = std::min(lanes, n - c);
    const V y =
        seen(some(x + c, count), [&](const float* p) HWY_ATTR { return some(p + c, count); });
    HWY_ALIGN float values[hn::MaxLanes(F())];
    hn::Store(y, f, values);
    std::memcpy(out + c, values, static_cast<size_t>(count) * sizeof(float));
    for (int64_t i = 0; i < count; ++i) {
      const float size = std::fabs(values[i]);
      peak0 = size > hn::GetLane(peak0) ? hn::Max(peak0, hn::Set(f, size)) : peak0;
    }
  }
  return hn::GetLane(hn::MaxOfLanes(f, hn::Max(peak0, peak1)));
}

float input_row(const float* x, const InputRow& how, int64_t n, float* out) {
  const F f;
  if (how.alpha != nullptr) {
    const auto snake = [&](V y, const auto& at) HWY_ATTR {
      return hn::MulAdd(sin_squared(hn::Mul(at(how.alpha), y)), at(how.inverse), y);
    };
    if (how.scale == nullptr) {
      return map_row(x, n, snake, out);
    }
    return map_row(
        x, n,
        [&](V v, const auto& at)
            HWY_ATTR { return snake(hn::MulAdd(at(how.scale), v, at(how.shift)), at); },
        out);
  }
  const V slope = hn::Set(f, how.slope);
  const auto leaky = [&](V y) HWY_ATTR {
    return hn::IfThenElse(hn::Lt(y, hn::Zero(f)), hn::Mul(slope, y), y);
  };
  if (how.scale == nullptr) {
    return map_row(x, n, [&](V v, const auto&) HWY_ATTR { return leaky(v); }, out);
  }
  return map_row(
      x, n,
      [&](V v, const auto& at)
          HWY_ATTR { return leaky(hn::MulAdd(at(how.scale), v, at(how.shift))); },
      out);
}

void sum_products(const float* x, int64_t x_stride, const float* w, int64_t count, int64_t n,
                  float* sums) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    V sum = hn::Zero(f);
    for (int64_t j = 0; j < count; ++j) {
      sum = hn::MulAdd(hn::LoadU(f, x + j * x_stride + c), hn::LoadU(f, w + j * n + c), sum);
    }
    hn::StoreU(sum, f, sums + c);
  }
  for (; c < n; ++c) {
    float sum = 0.0F;
    for (int64_t j = 0; j < count; ++j) {
      sum += x[j * x_stride + c] * w[j * n + c];
    }
    sums[c] = sum;
  }
}

void codes(const float* x, int64_t n, float inverse, uint8_t* out) {
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const hn::Rebind<uint8_t, F> u8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const V scale = hn::Set(f, inverse);
  // Added to a small number, the number to nearest, and 128, is in the sum's last byte.
  const V rounder = hn::Set(f, 0x1.8p23F + 128.0F);
  const auto code = [&](V value) HWY_ATTR {
    return hn::TruncateTo(u8, hn::BitCast(u32, hn::MulAdd(value, scale, rounder)));
  };
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    hn::StoreU(code(hn::LoadU(f, x + c)), u8, out + c);
  }
  if (c < n) {
    HWY_ALIGN uint8_t bytes[hn::MaxLanes(F())];
    hn::Store(code(some(x + c, n - c)), u8, bytes);
    std::memcpy(out + c, bytes, static_cast<size_t>(n - c));
  }
}

void column_moments(const float* x, int64_t stride, int64_t rows, int64_t n, float* sums,
                    float* squares) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t c = 0;
  for (; c + 4 * lanes <= n; c += 4 * lanes) {
    V first[4];
    V sum[4];
    V square[4];
    for (int v = 0; v < 4; ++v) {
      first[v] = hn::LoadU(f, x + c + v * lanes);
      sum[v] = hn::Zero(f);
      square[v] = hn::Zero(f);
    }
    for (int64_t r = 1; r < rows; ++r) {
      const float* const row = x + r * stride + c;
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        const V d = hn::Sub(hn::LoadU(f, row + v * lanes), first[v]);
        sum[v] = hn::Add(sum[v], d);
        square[v] = hn::MulAdd(d, d, square[v]);
      }
    }
    for (int v = 0; v < 4; ++v) {
      hn::StoreU(sum[v], f, sums + c + v * lanes);
      hn::StoreU(square[v], f, squares + c + v * lanes);
    }
  }
  for (; c < n; ++c) {
    float sum = 0.0F;
    float square = 0.0F;
    for (int64_t r = 1; r < rows; ++r) {
      const float d = x[r * stride + c] - x[c];
      sum += d;
      square += d * d;
    }
    sums[c] = sum;
    squares[c] = square;
  }
}

}  // namespace

void fill_conv_input(Kernels& kernels) {
  kernels.input_row = input_row;
  kernels.sum_products = sum_products;
  kernels.codes = codes;
  kernels.column_moments = column_moments;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_conv_input_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_conv_input, kernels);
}

}  // namespace mynah::cpu
#endif
