// What follows a product: scales, bias, activation, residual; and what precedes it: activations
// rounded to int8.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/finish_hwy.cpp"
#include <algorithm>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"
#include "tensor/quantize.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

// One row of at most 32 columns; `value(column)` is the vector of sums there. Whole vectors first,
// then lane by lane through a buffer, so that no write passes the row's end.
template <class Value, class Act>
HWY_INLINE void finish_row(int64_t n, const float* bias, const float* residual,
                           const Act& activation, const Value& value, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    V y = value(c);
    if (bias != nullptr) {
      y = hn::Add(y, hn::LoadU(f, bias + c));
    }
    y = activation(y);
    if (residual != nullptr) {
      y = hn::Add(y, hn::LoadU(f, residual + c));
    }
    hn::StoreU(y, f, out + c);
  }
  if (c < n) {
    HWY_ALIGN float extra[hn::MaxLanes(F())] = {};
    const auto rest = static_cast<size_t>(n - c);
    V y = value(c);
    if (bias != nullptr) {
      std::memcpy(extra, bias + c, rest * sizeof(float));
      y = hn::Add(y, hn::Load(f, extra));
    }
    y = activation(y);
    hn::Store(y, f, extra);
    for (size_t i = 0; i < rest; ++i) {
      out[c + static_cast<int64_t>(i)] =
          extra[i] + (residual != nullptr ? residual[c + static_cast<int64_t>(i)] : 0.0F);
    }
  }
}

void finish(const float* tile, int64_t m, int64_t n, const Finish& how, float* out,
            int64_t out_stride) {
  const F f;
  with_activation(how.activation, [&](const auto& activation) HWY_ATTR {
    for (int64_t r = 0; r < m; ++r) {
      const float* residual =
          how.residual == nullptr ? nullptr : how.residual + r * how.residual_stride;
      finish_row(
          n, how.bias, residual, activation,
          [&](int64_t c) HWY_ATTR { return hn::LoadU(f, tile + r * kPanel + c); },
          out + r * out_stride);
    }
  });
}

// A whole panel: what belongs to a column is read once for all rows.
template <class Act>
HWY_INLINE void finish_panel_i8(const int32_t* tile, int64_t m, const Int8Scales& scales,
                                const Finish& how, const Act& activation, float* out,
                                int64_t out_stride) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t c = 0; c < kPanel; c += lanes) {
    const auto offset = hn::ShiftLeft<7>(hn::LoadU(i32, scales.column_sums + c));
    const V column = hn::LoadU(f, scales.columns + c);
    const V bias = how.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, how.bias + c);
    const auto sum = [&](int64_t r) HWY_ATTR {
      const auto products = hn::Sub(hn::LoadU(i32, tile + r * kPanel + c), offset);
      const V scale = hn::Mul(hn::Set(f, scales.rows[r]), column);
      return activation(hn::MulAdd(hn::ConvertTo(f, products), scale, bias));
    };
    if (how.residual == nullptr) {
      for (int64_t r = 0; r < m; ++r) {
        hn::StoreU(sum(r), f, out + r * out_stride + c);
      }
    } else {
      for (int64_t r = 0; r < m; ++r) {
        const V residual = hn::LoadU(f, how.residual + r * how.residual_stride + c);
        hn::StoreU(hn::Add(sum(r), residual), f, out + r * out_stride + c);
      }
    }
  }
}

void finish_i8(const int32_t* tile, int64_t m, int64_t n, const Int8Scales& scales,
               const Finish& how, float* out, int64_t out_stride) {
  const F f;
  const hn::RebindToSigned<F> i32;
  with_activation(how.activation, [&](const auto& activation) HWY_ATTR {
    if (n == kPanel) {
      finish_panel_i8(tile, m, scales, how, activation, out, out_stride);
      return;
    }
    for (int64_t r = 0; r < m; ++r) {
      const float* residual =
          how.residual == nullptr ? nullptr : how.residual + r * how.residual_stride;
      const V row_scale = hn::Set(f, scales.rows[r]);
      finish_row(
          n, how.bias, residual, activation,
          [&](int64_t c) HWY_ATTR {
            const auto offset = hn::ShiftLeft<7>(hn::LoadU(i32, scales.column_sums + c));
            const auto sum = hn::Sub(hn::LoadU(i32, tile + r * kPanel + c), offset);
            return hn::Mul(hn::ConvertTo(f, sum),
                           hn::Mul(row_scale, hn::LoadU(f, scales.columns + c)));
          },
          out + r * out_stride);
    }
  });
}

void finish_mix(const int32_t* tile, int64_t m, const float* scales, const float* means,
                const float* weights, bool adds, float* out, int64_t out_stride) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t c = 0; c < kPanel; c += lanes) {
    const V scale = hn::LoadU(f, scales + c);
    const V mean = hn::LoadU(f, means + c);
    for (int64_t r = 0; r < m; ++r) {
      float* to = out + r * out_stride + c;
      const V sum = hn::ConvertTo(f, hn::LoadU(i32, tile + r * kPanel + c));
      const V before = adds ? hn::LoadU(f, to) : hn::Zero(f);
      const V shared = hn::MulAdd(mean, hn::Set(f, weights[r]), before);
      hn::StoreU(hn::MulAdd(sum, scale, shared), f, to);
    }
  }
}

HWY_INLINE float largest_of(const float* x, int64_t k) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  V largest4[2] = {hn::Zero(f), hn::Zero(f)};
  int64_t c = 0;
  for (; c + 2 * lanes <= k; c += 2 * lanes) {
    largest4[0] = hn::Max(largest4[0], hn::Abs(hn::LoadU(f, x + c)));
    largest4[1] = hn::Max(largest4[1], hn::Abs(hn::LoadU(f, x + c + lanes)));
  }
  float largest = hn::GetLane(hn::MaxOfLanes(f, hn::Max(largest4[0], largest4[1])));
  for (; c < k; ++c) {
    largest = std::max(largest, x[c] < 0 ? -x[c] : x[c]);
  }
  return largest;
}

float quantize_row_close(const float* x, int64_t k, uint8_t* high, uint8_t* low, int64_t k4) {
  constexpr float kSteps = 127.0F * 256.0F;
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const hn::Rebind<uint8_t, F> u8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const float largest = largest_of(x, k);
  const V scale = hn::Set(f, largest > 0 ? kSteps / largest : 0.0F);
  // Added to a small number, the number to nearest, and 128 for each byte, is in the sum's last two
  // bytes.
  const V rounder = hn::Set(f, 0x1.8p23F + 128.0F * 256.0F + 128.0F);
  HWY_ALIGN float extra[hn::MaxLanes(F())] = {};
  HWY_ALIGN uint8_t bytes[hn::MaxLanes(F())];
  for (int64_t c = 0; c < k; c += lanes) {
    const int64_t count = std::min(lanes, k - c);
    std::memcpy(extra, x + c, static_cast<size_t>(count) * sizeof(float));
    const auto codes = hn::BitCast(u32, hn::MulAdd(hn::Load(f, extra), scale, rounder));
    hn::Store(hn::TruncateTo(u8, hn::ShiftRight<8>(codes)), u8, bytes);
    std::memcpy(high + c, bytes, static_cast<size_t>(count));
    hn::Store(hn::TruncateTo(u8, codes), u8, bytes);
    std::memcpy(low + c, bytes, static_cast<size_t>(count));
  }
  std::memset(high + k, 128, static_cast<size_t>(k4 * 4 - k));
  std::memset(low + k, 128, static_cast<size_t>(k4 * 4 - k));
  return largest / kSteps;
}

void join_close(const int32_t* tile, int64_t m, const Int8Scales& scales, float* out) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t r = 0; r < m; ++r, tile += 2 * kPanel, out += kPanel) {
    const V row_scale = hn::Set(f, scales.rows[r]);
    for (int64_t c = 0; c < kPanel; c += lanes) {
      const auto offset = hn::ShiftLeft<7>(hn::LoadU(i32, scales.column_sums + c));
      const V high = hn::ConvertTo(f, hn::Sub(hn::LoadU(i32, tile + c), offset));
      const V low = hn::ConvertTo(f, hn::Sub(hn::LoadU(i32, tile + kPanel + c), offset));
      const V sum = hn::MulAdd(high, hn::Set(f, 256.0F), low);
      hn::StoreU(hn::Mul(sum, hn::Mul(row_scale, hn::LoadU(f, scales.columns + c))), f, out + c);
    }
  }
}

float quantize_run_i16(const float* x, int64_t k, int16_t* out) {
  constexpr float kPeak = kInt16Peak;
  constexpr float kLeast = 1e-34F;  // what is less is nothing, and would have no finite inverse
  const F f;
  const hn::Rebind<int16_t, F> i16;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const float largest = largest_of(x, k);
  const V scale = hn::Set(f, largest > kLeast ? kPeak / largest : 0.0F);
  const auto code = [&](V value) HWY_ATTR {
    return hn::DemoteTo(i16, hn::NearestInt(hn::Mul(value, scale)));
  };
  int64_t c = 0;
  for (; c + lanes <= k; c += lanes) {
    hn::StoreU(code(hn::LoadU(f, x + c)), i16, out + c);
  }
  if (c < k) {
    HWY_ALIGN float extra[hn::MaxLanes(F())] = {};
    HWY_ALIGN int16_t codes[hn::MaxLanes(F())];
    std::memcpy(extra, x + c, static_cast<size_t>(k - c) * sizeof(float));
    hn::Store(code(hn::Load(f, extra)), i16, codes);
    std::memcpy(out + c, codes, static_cast<size_t>(k - c) * sizeof(int16_t));
  }
  if (k % 2 != 0) {
    out[k] = 0;
  }
  return largest > kLeast ? largest / kPeak : 0.0F;
}

float quantize_row(const float* x, int64_t k, uint8_t* out, int64_t k4) {
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const hn::Rebind<uint8_t, F> u8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const float largest = largest_of(x, k);
  const float inverse = largest > 0 ? 127.0F / largest : 0.0F;
  const V scale = hn::Set(f, inverse);
  // Added to a small number, the number to nearest, and 128, is in the sum's last byte.
  const V rounder = hn::Set(f, 0x1.8p23F + 128.0F);
  const auto code = [&](V value) HWY_ATTR {
    return hn::TruncateTo(u8, hn::BitCast(u32, hn::MulAdd(value, scale, rounder)));
  };
  int64_t c = 0;
  for (; c + lanes <= k; c += lanes) {
    hn::StoreU(code(hn::LoadU(f, x + c)), u8, out + c);
  }
  if (c < k4 * 4) {
    HWY_ALIGN float extra[hn::MaxLanes(F())] = {};
    HWY_ALIGN uint8_t bytes[hn::MaxLanes(F())];
    // The last, partial vector, then the padding, which is a whole number's worth of zero points.
    const int64_t rest = k - c;
    std::memcpy(extra, x + c, static_cast<size_t>(rest) * sizeof(float));
    hn::Store(code(hn::Load(f, extra)), u8, bytes);
    std::memcpy(out + c, bytes, static_cast<size_t>(rest));
    std::memset(out + k, 128, static_cast<size_t>(k4 * 4 - k));
  }
  return largest / 127.0F;
}

void to_bf16(const float* x, int64_t n, uint16_t* out) {
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const hn::Rebind<uint16_t, F> u16;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto round = [&](hn::Vec<decltype(u32)> bits) HWY_ATTR {
    // To nearest, ties to even.
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
    return hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(u32, 0x7FFF))));
  };
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    const auto bits = round(hn::BitCast(u32, hn::LoadU(f, x + c)));
    hn::StoreU(hn::DemoteTo(u16, hn::BitCast(hn::RebindToSigned<F>(), bits)), u16, out + c);
  }
  for (; c < n; ++c) {
    uint32_t bits;
    std::memcpy(&bits, x + c, sizeof(bits));
    out[c] = static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
  }
}

void from_bf16(const uint16_t* x, int64_t n, float* out) {
  const F f;
  const hn::RebindToUnsigned<F> u32;
  const hn::Rebind<uint16_t, F> u16;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    hn::StoreU(hn::BitCast(f, hn::ShiftLeft<16>(hn::PromoteTo(u32, hn::LoadU(u16, x + c)))), f,
               out + c);
  }
  for (; c < n; ++c) {
    const uint32_t bits = uint32_t{x[c]} << 16;
    std::memcpy(out + c, &bits, sizeof(bits));
  }
}

void widen_i8(const int8_t* panel, int64_t k4, const float* scales, float* out) {
  const F f;
  const hn::RebindToSigned<F> i32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t c = 0; c < kPanel; c += lanes) {
    const V scale = hn::LoadU(f, scales + c);
    const auto* from = reinterpret_cast<const int32_t*>(panel) + c;
    float* to = out + c;
    for (int64_t k = 0; k < k4; ++k, from += kPanel, to += 4 * kPanel) {
      const auto four = hn::LoadU(i32, from);  // of each column
      const auto put = [&](int64_t i, hn::Vec<decltype(i32)> shifted) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::ConvertTo(f, hn::ShiftRight<24>(shifted)), scale), f,
                   to + i * kPanel);
      };
      put(0, hn::ShiftLeft<24>(four));
      put(1, hn::ShiftLeft<16>(four));
      put(2, hn::ShiftLeft<8>(four));
      put(3, four);
    }
  }
}

using F16 = hn::Rebind<hwy::float16_t, F>;

void to_f16(const float* x, int64_t n, uint16_t* out) {
#if HWY_TARGET == HWY_SSE4
  // Without F16C, Highway 1.0.3 cuts off instead of rounding.
  for (int64_t c = 0; c < n; ++c) {
    out[c] = f32_to_f16(x[c]);
  }
#else
  const F f;
  const F16 f16;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  auto* halves = reinterpret_cast<hwy::float16_t*>(out);
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    hn::StoreU(hn::DemoteTo(f16, hn::LoadU(f, x + c)), f16, halves + c);
  }
  if (c < n) {
    HWY_ALIGN float extra[hn::MaxLanes(F())] = {};
    HWY_ALIGN hwy::float16_t rest[hn::MaxLanes(F())];
    std::memcpy(extra, x + c, static_cast<size_t>(n - c) * sizeof(float));
    hn::Store(hn::DemoteTo(f16, hn::Load(f, extra)), f16, rest);
    std::memcpy(out + c, rest, static_cast<size_t>(n - c) * sizeof(uint16_t));
  }
#endif
}

void from_f16(const uint16_t* x, int64_t n, float* out) {
#if HWY_TARGET == HWY_SSE4
  // Highway's substitute for F16C makes large numbers of infinities and NaN.
  for (int64_t c = 0; c < n; ++c) {
    out[c] = f16_to_f32(x[c]);
  }
#else
  const F f;
  const F16 f16;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  const auto* halves = reinterpret_cast<const hwy::float16_t*>(x);
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    hn::StoreU(hn::PromoteTo(f, hn::LoadU(f16, halves + c)), f, out + c);
  }
  if (c < n) {
    HWY_ALIGN float extra[hn::MaxLanes(F())];
    HWY_ALIGN hwy::float16_t rest[hn::MaxLanes(F())] = {};
    std::memcpy(rest, x + c, static_cast<size_t>(n - c) * sizeof(uint16_t));
    hn::Store(hn::PromoteTo(f, hn::Load(f16, rest)), f, extra);
    std::memcpy(out + c, extra, static_cast<size_t>(n - c) * sizeof(float));
  }
#endif
}

}  // namespace

void fill_finish(Kernels& kernels) {
  kernels.finish = finish;
  kernels.finish_i8 = finish_i8;
  kernels.finish_mix = finish_mix;
  kernels.quantize_row = quantize_row;
  kernels.quantize_row_close = quantize_row_close;
  kernels.quantize_run_i16 = quantize_run_i16;
  kernels.join_close = join_close;
  kernels.widen_i8 = widen_i8;
  kernels.to_bf16 = to_bf16;
  kernels.from_bf16 = from_bf16;
  kernels.to_f16 = to_f16;
  kernels.from_f16 = from_f16;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_finish_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_finish, kernels);
}

}  // namespace mynah::cpu
#endif
