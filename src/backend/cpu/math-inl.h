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

// e^x within 2 units in the last place; 0 below the smallest normal number. Range reduction by
// powers of two and the polynomial of Cephes' expf.c (S. Moshier).
HWY_INLINE V exp(V x) {
  const F f;
  const hn::RebindToSigned<F> i;
  const V low = hn::Set(f, -87.33654F);
  const auto underflow = hn::Lt(x, low);
  x = hn::Max(low, hn::Min(hn::Set(f, 88.72283F), x));  // this order lets NaN through
  const V n = hn::Round(hn::Mul(x, hn::Set(f, 1.44269504F)));
  V r = hn::NegMulAdd(n, hn::Set(f, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(f, -2.12194440e-4F), r);
  V p = hn::Set(f, 1.9875691500e-4F);
  p = hn::MulAdd(p, r, hn::Set(f, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(f, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(f, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(f, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(f, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(hn::Mul(p, r), r, r), hn::Set(f, 1.0F));
  // 2^n in two factors: n can be 128, which one float exponent cannot hold.
  const auto whole = hn::ConvertTo(i, n);
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(i, 127);
  const V scale0 = hn::BitCast(f, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale1 = hn::BitCast(f, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  return hn::IfThenZeroElse(underflow, hn::Mul(hn::Mul(p, scale0), scale1));
}

// Abramowitz and Stegun 7.1.26: |error| <= 1.5e-7.
HWY_INLINE V erf(V x) {
  const F f;
  const V z = hn::Abs(x);
  const V one = hn::Set(f, 1.0F);
  const V t = hn::Div(one, hn::MulAdd(hn::Set(f, 0.3275911F), z, one));
  V p = hn::Set(f, 1.061405429F);
  p = hn::MulAdd(p, t, hn::Set(f, -1.453152027F));
  p = hn::MulAdd(p, t, hn::Set(f, 1.421413741F));
  p = hn::MulAdd(p, t, hn::Set(f, -0.284496736F));
  p = hn::MulAdd(p, t, hn::Set(f, 0.254829592F));
  const V y = hn::NegMulAdd(hn::Mul(p, t), exp(hn::Neg(hn::Mul(z, z))), one);
  return hn::CopySign(y, x);
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

HWY_INLINE V gelu(V x) {
  const F f;
  const V half = hn::Mul(x, hn::Set(f, 0.5F));
  return hn::MulAdd(half, erf(hn::Mul(x, hn::Set(f, 0.70710678F))), half);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016.
HWY_INLINE V gelu_tanh(V x) {
  const F f;
  const V half = hn::Mul(x, hn::Set(f, 0.5F));
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::MulAdd(hn::Set(f, 0.044715F), cube, x);
  return hn::MulAdd(half, tanh(hn::Mul(hn::Set(f, 0.79788456F), inner)), half);
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
