// Exponential and its family on vectors of f32, compiled once per instruction set.
#if defined(MYNAH_BACKEND_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MYNAH_BACKEND_CPU_MATH_INL_H_
#undef MYNAH_BACKEND_CPU_MATH_INL_H_
#else
#define MYNAH_BACKEND_CPU_MATH_INL_H_
#endif

#include <limits>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "tensor/op_params.h"

HWY_BEFORE_NAMESPACE();

namespace mynah::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// e^(x - n log(2)) for n = x / log(2) to nearest. Range reduction by powers of two and the
// polynomial of Cephes' expf.c (S. Moshier).
HWY_INLINE V exp_near_zero(V x, V n) {
  const F f;
  V r = hn::NegMulAdd(n, hn::Set(f, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(f, -2.12194440e-4F), r);
  V p = hn::Set(f, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(f, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(f, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(f, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(f, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(f, 5.0000001201e-1F));
  return hn::Add(hn::MulAdd(hn::Mul(p, r), r, r), hn::Set(f, 1.0F));
}

// e^x within 2 units in the last place; 0 below the smallest normal number.
HWY_INLINE V exp(V x) {
  const F f;
  const hn::RebindToSigned<F> i;
  const V low = hn::Set(f, -87.33654F);
  const auto underflow = hn::Lt(x, low);
  x = hn::Max(low, hn::Min(hn::Set(f, 88.72283F), x));  // this order lets NaN through
  const V n = hn::Round(hn::Mul(x, hn::Set(f, 1.44269504F)));
  const V p = exp_near_zero(x, n);
  // 2^n in two factors: n can be 128, which one float exponent cannot hold.
  const auto whole = hn::ConvertTo(i, n);
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(i, 127);
  const V scale0 = hn::BitCast(f, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale1 = hn::BitCast(f, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  return hn::IfThenZeroElse(underflow, hn::Mul(hn::Mul(p, scale0), scale1));
}

// exp(x) for x <= 0, in two thirds of the time: one factor is enough for 2^n, and adding a large
// number rounds and leaves n in the sum's last bits.
HWY_INLINE V exp_of_nonpositive(V x) {
  const F f;
  const hn::RebindToSigned<F> i;
  const V low = hn::Set(f, -87.0F);
  const V rounder = hn::Set(f, 0x1.8p23F);
  const auto underflow = hn::Lt(x, low);
  x = hn::Max(low, x);
  const V sum = hn::MulAdd(x, hn::Set(f, 1.44269504F), rounder);
  const V p = exp_near_zero(x, hn::Sub(sum, rounder));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(i, sum));
  return hn::IfThenZeroElse(underflow, hn::BitCast(f, hn::Add(hn::BitCast(i, p), exponent)));
}

HWY_INLINE V sigmoid(V x) {
  const V one = hn::Set(F(), 1.0F);
  return hn::Div(one, hn::Add(one, exp(hn::Neg(x))));
}

HWY_INLINE V tanh(V x) {
  const F f;
  const V one = hn::Set(f, 1.0F);
  return hn::NegMulAdd(hn::Set(f, 2.0F), hn::Div(one, hn::Add(one, exp(hn::Add(x, x)))), one);
}

// 0.5 x (1 + erf(x / sqrt(2))). Up to kFar the error function is x P(x^2) / Q(x^2) within 1.7e-7,
// coefficients by tools/fit_erf.py; beyond, it is 1 within 8e-8. Without an exponential this takes
// half the time.
HWY_INLINE V gelu(V x) {
  constexpr float kFar = 5.3740115F;
  const F f;
  const V t = hn::Mul(x, x);
  V p = hn::Set(f, 1.3249647e-05F);
  p = hn::MulAdd(p, t, hn::Set(f, 7.2888826e-04F));
  p = hn::MulAdd(p, t, hn::Set(f, 1.1699019e-02F));
  p = hn::MulAdd(p, t, hn::Set(f, 1.0824730e-01F));
  p = hn::MulAdd(p, t, hn::Set(f, 7.9788350e-01F));
  V q = hn::Set(f, 5.5402285e-07F);
  q = hn::MulAdd(q, t, hn::Set(f, 1.3075236e-04F));
  q = hn::MulAdd(q, t, hn::Set(f, 2.9963310e-03F));
  q = hn::MulAdd(q, t, hn::Set(f, 4.0065784e-02F));
  q = hn::MulAdd(q, t, hn::Set(f, 3.0232596e-01F));
  q = hn::MulAdd(q, t, hn::Set(f, 1.0F));
  const V near = hn::Div(hn::Mul(x, p), q);
  const V far = hn::CopySign(hn::Set(f, 1.0F), x);
  const V erf = hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(f, kFar)), far, near);
  const V half = hn::Mul(x, hn::Set(f, 0.5F));
  return hn::MulAdd(half, erf, half);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016.
HWY_INLINE V gelu_tanh(V x) {
  const F f;
  const V half = hn::Mul(x, hn::Set(f, 0.5F));
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::MulAdd(hn::Set(f, 0.044715F), cube, x);
  return hn::MulAdd(half, tanh(hn::Mul(hn::Set(f, 0.79788456F), inner)), half);
}

// sin(x)^2, whose period is pi: that of two numbers, the first exact up to 4096 times. The error in
// epsilons is at most 2.5 sin(x)^2 up to pi / 2, 2.5 up to 1e4, and 0.6 |x| beyond. The
// coefficients and these errors are by tools/fit_sin.py. NaN at infinity.
HWY_INLINE V sin_squared(V x) {
  const F f;
  const V end = hn::Set(f, 1.573F);
  const V n = hn::Round(hn::Mul(x, hn::Set(f, 0.318309873F)));
  V r = hn::NegMulAdd(n, hn::Set(f, 3.14160156F), x);
  r = hn::MulAdd(n, hn::Set(f, 8.90890988e-6F), r);
  r = hn::Max(hn::Neg(end), hn::Min(end, r));  // this order lets NaN through
  const V z = hn::Mul(r, r);
  V p = hn::Set(f, 2.60536103e-6F);
  p = hn::MulAdd(p, z, hn::Set(f, -1.98094232e-4F));
  p = hn::MulAdd(p, z, hn::Set(f, 8.33306368e-3F));
  p = hn::MulAdd(p, z, hn::Set(f, -1.66666597e-1F));
  const V sine = hn::MulAdd(hn::Mul(p, z), r, r);
  return hn::Mul(sine, sine);
}

// Natural logarithm; -infinity at 0, infinity at infinity, NaN below 0 and at NaN.
HWY_INLINE V log(V x) {
  const F f;
  const V infinity = hn::Set(f, std::numeric_limits<float>::infinity());
  V y = hn::Log(f, x);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(f)), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  const auto defined = hn::Ge(x, hn::Zero(f));
  return hn::IfThenElse(defined, y, hn::Set(f, std::numeric_limits<float>::quiet_NaN()));
}

// log(1 + e^x), its exponential at most 1; within some epsilons of 1 or of x.
HWY_INLINE V softplus(V x) {
  const F f;
  const V small = exp_of_nonpositive(hn::Neg(hn::Abs(x)));
  return hn::Add(hn::Max(hn::Zero(f), x), log(hn::Add(hn::Set(f, 1.0F), small)));
}

// Calls fn with the activation as a callable, so that its choice is made once a row and not once a
// vector.
template <class Fn>
HWY_INLINE void with_activation(Activation activation, const Fn& fn) {
  switch (activation) {
    case Activation::None:
      return fn([](V x) HWY_ATTR { return x; });
    case Activation::Relu:
      return fn([](V x) HWY_ATTR { return hn::Max(hn::Zero(F()), x); });
    case Activation::Gelu:
      return fn([](V x) HWY_ATTR { return gelu(x); });
    case Activation::GeluTanh:
      return fn([](V x) HWY_ATTR { return gelu_tanh(x); });
    case Activation::Silu:
      return fn([](V x) HWY_ATTR { return hn::Mul(x, sigmoid(x)); });
    case Activation::Sigmoid:
      return fn([](V x) HWY_ATTR { return sigmoid(x); });
    case Activation::Tanh:
      return fn([](V x) HWY_ATTR { return tanh(x); });
  }
}

}  // namespace
}  // namespace mynah::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#endif
