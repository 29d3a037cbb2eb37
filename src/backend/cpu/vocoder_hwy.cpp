// Sines, and numbers of a spectrum as magnitudes and phases or as real and imaginary parts.
#include "backend/cpu/kernel_parts.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/vocoder_hwy.cpp"
#include <algorithm>
#include <cstring>
#include <numbers>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<double>;
using W = hn::Vec<D>;
// As many f32 as there are doubles in a vector.
using H = hn::Rebind<float, D>;

constexpr double kTurn = 2.0 * std::numbers::pi;

// Calls fn(begin, load, store) for each vector of doubles of n numbers: load(p) reads f32 at p +
// begin, store(v, p) writes f32 there; past the end zeros are read and nothing is written.
template <class Fn>
HWY_INLINE void each_vector(int64_t n, const Fn& fn) {
  const D d;
  const H h;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < n; c += lanes) {
    const int64_t count = std::min(lanes, n - c);
    const auto load = [&](const float* p) HWY_ATTR {
      HWY_ALIGN float part[hn::MaxLanes(D())] = {};
      std::memcpy(part, p + c, static_cast<size_t>(count) * sizeof(float));
      return hn::PromoteTo(d, hn::Load(h, part));
    };
    const auto store = [&](W v, float* p) HWY_ATTR {
      HWY_ALIGN float part[hn::MaxLanes(D())];
      hn::Store(hn::DemoteTo(h, v), h, part);
      std::memcpy(p + c, part, static_cast<size_t>(count) * sizeof(float));
    };
    fn(c, load, store);
  }
}

// Of any f32: what is left of its turns in double is exact enough.
HWY_INLINE W sine(W x) {
  const D d;
  const W turns = hn::Round(hn::Mul(x, hn::Set(d, 1.0 / kTurn)));
  return hn::Sin(d, hn::NegMulAdd(turns, hn::Set(d, kTurn), x));
}

HWY_INLINE W cosine(W x) {
  return hn::Cos(D(), x);
}

void sine_row(const SineRow& how, int64_t n, float* out) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  HWY_ALIGN float phases[hn::MaxLanes(F())];
  HWY_ALIGN float sums[hn::MaxLanes(F())];
  for (int64_t c = 0; c < n; c += lanes) {
    const int64_t count = std::min(lanes, n - c);
    // As the reference, in f32: where the sample is between the middles of the values' samples.
    const V sample = hn::Iota(f, static_cast<float>(how.value * n + c));
    V at = hn::Sub(hn::Div(hn::Add(sample, hn::Set(f, 0.5F)), hn::Set(f, static_cast<float>(n))),
                   hn::Set(f, 0.5F));
    at = hn::Min(hn::Max(at, hn::Zero(f)), hn::Set(f, static_cast<float>(how.values - 1)));
    const V whole = hn::Floor(at);
    const V part = hn::Sub(at, whole);
    const auto later = hn::Ge(whole, hn::Set(f, static_cast<float>(how.value)));
    std::fill_n(sums, lanes, 0.0F);
    for (int64_t h = 0; h < how.harmonics; ++h) {
      const V before = hn::IfThenElse(later, hn::Set(f, how.here[h]), hn::Set(f, how.before[h]));
      const V after = hn::IfThenElse(later, hn::Set(f, how.after[h]), hn::Set(f, how.here[h]));
      const V own = hn::Mul(before, hn::Sub(hn::Set(f, 1.0F), part));
      hn::Store(hn::Add(own, hn::Mul(after, part)), f, phases);
      each_vector(lanes, [&](int64_t, const auto& load, const auto& store) HWY_ATTR {
        const W weight = hn::Set(D(), static_cast<double>(how.weights[h]));
        store(hn::MulAdd(weight, sine(load(phases)), load(sums)), sums);
      });
    }
    const V y = tanh(hn::Add(hn::Load(f, sums), hn::Set(f, how.bias)));
    hn::Store(y, f, sums);
    std::memcpy(out + c, sums, static_cast<size_t>(count) * sizeof(float));
  }
}

// atan2: of the smaller magnitude by the larger, then by the octant. 0 where both are 0.
void to_polar(const float* real, const float* imaginary, int64_t n, float* magnitudes,
              float* phases) {
  const D d;
  each_vector(n, [&](int64_t, const auto& load, const auto& store) HWY_ATTR {
    const W x = load(real);
    const W y = load(imaginary);
    const W ax = hn::Abs(x);
    const W ay = hn::Abs(y);
    const W larger = hn::Max(ax, ay);
    const auto none = hn::Eq(larger, hn::Zero(d));
    const W ratio = hn::Div(hn::Min(ax, ay), hn::IfThenElse(none, hn::Set(d, 1.0), larger));
    W angle = hn::Atan(d, ratio);
    angle = hn::IfThenElse(hn::Gt(ay, ax), hn::Sub(hn::Set(d, kTurn / 4), angle), angle);
    angle = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, kTurn / 2), angle), angle);
    store(hn::Sqrt(hn::MulAdd(x, x, hn::Mul(y, y))), magnitudes);
    store(hn::CopySign(angle, y), phases);
  });
}

void from_polar(const float* logarithms, const float* turned, int64_t n, float* real,
                float* imaginary) {
  const F f;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  HWY_ALIGN float magnitudes[hn::MaxLanes(F())] = {};
  for (int64_t c = 0; c < n; c += lanes) {
    const int64_t count = std::min(lanes, n - c);
    std::memcpy(magnitudes, logarithms + c, static_cast<size_t>(count) * sizeof(float));
    hn::Store(exp(hn::Load(f, magnitudes)), f, magnitudes);
    each_vector(count, [&](int64_t at, const auto& load, const auto& store) HWY_ATTR {
      (void)at;
      const W magnitude = load(magnitudes);
      const W phase = sine(load(turned + c));
      store(hn::Mul(magnitude, cosine(phase)), real + c);
      store(hn::Mul(magnitude, hn::Sin(D(), phase)), imaginary + c);
    });
  }
}

}  // namespace

void fill_vocoder(Kernels& kernels) {
  kernels.sine_row = sine_row;
  kernels.to_polar = to_polar;
  kernels.from_polar = from_polar;
}

}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mynah::cpu {

void add_vocoder_kernels(Isa isa, Kernels& kernels) {
  MYNAH_FILL_FOR(isa, fill_vocoder, kernels);
}

}  // namespace mynah::cpu
#endif
