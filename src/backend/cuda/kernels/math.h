// Functions of one number, in plain arithmetic: the same on every card, every driver and in the
// simulation, with no library of the toolkit's.
#pragma once

#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

// e^x within 2 units in the last place; 0 below the smallest normal number. Range reduction by
// powers of two and the polynomial of Cephes' expf.c (S. Moshier).
inline float exp(float x) {
  constexpr float kLow = -87.33654F;
  if (x < kLow) {
    return 0.0F;
  }
  if (x > 88.72283F) {
    return kInfinity;
  }
  const float n = nearest(x * 1.44269504F);
  float r = multiply_add(n, -0.693359375F, x);
  r = multiply_add(n, 2.12194440e-4F, r);
  float p = 1.9875691500e-4F;
  p = multiply_add(p, r, 1.3981999507e-3F);
  p = multiply_add(p, r, 8.3334519073e-3F);
  p = multiply_add(p, r, 4.1665795894e-2F);
  p = multiply_add(p, r, 1.6666665459e-1F);
  p = multiply_add(p, r, 5.0000001201e-1F);
  p = multiply_add(p * r, r, r) + 1.0F;
  // 2^n in two factors: n can be 128, which one float exponent cannot hold.
  const int whole = x == x ? static_cast<int>(n) : 0;
  const int half = whole >> 1;
  p = p * float_of(static_cast<uint32_t>(half + 127) << 23);
  return p * float_of(static_cast<uint32_t>(whole - half + 127) << 23);
}

inline float sigmoid(float x) {
  return 1.0F / (1.0F + exp(-x));
}

inline float tanh(float x) {
  return 1.0F - 2.0F / (1.0F + exp(x + x));
}

// 0.5 x (1 + erf(x / sqrt(2))). Up to kFar the error function is x P(x^2) / Q(x^2) within 1.7e-7,
// coefficients by tools/fit_erf.py; beyond, it is 1 within 8e-8.
inline float gelu(float x) {
  constexpr float kFar = 5.3740115F;
  const float t = x * x;
  float p = 1.3249647e-05F;
  p = multiply_add(p, t, 7.2888826e-04F);
  p = multiply_add(p, t, 1.1699019e-02F);
  p = multiply_add(p, t, 1.0824730e-01F);
  p = multiply_add(p, t, 7.9788350e-01F);
  float q = 5.5402285e-07F;
  q = multiply_add(q, t, 1.3075236e-04F);
  q = multiply_add(q, t, 2.9963310e-03F);
  q = multiply_add(q, t, 4.0065784e-02F);
  q = multiply_add(q, t, 3.0232596e-01F);
  q = multiply_add(q, t, 1.0F);
  const float near = x * p / q;
  const float erf = x > kFar ? 1.0F : x < -kFar ? -1.0F : near;
  return multiply_add(0.5F * x, erf, 0.5F * x);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016.
inline float gelu_tanh(float x) {
  const float inner = multiply_add(0.044715F, x * x * x, x);
  return multiply_add(0.5F * x, tanh(0.79788456F * inner), 0.5F * x);
}

// sin(x)^2, whose period is pi: that of two numbers, the first exact up to 4096 times. The error in
// epsilons is at most 2.5 sin(x)^2 up to pi / 2, 2.5 up to 1e4, and 0.6 |x| beyond. The
// coefficients and these errors are by tools/fit_sin.py. NaN at infinity.
inline float sin_squared(float x) {
  constexpr float kEnd = 1.573F;
  const float n = nearest(x * 0.318309873F);
  float r = multiply_add(n, -3.14160156F, x);
  r = multiply_add(n, 8.90890988e-6F, r);
  r = r > kEnd ? kEnd : r < -kEnd ? -kEnd : r;
  const float z = r * r;
  float p = 2.60536103e-6F;
  p = multiply_add(p, z, -1.98094232e-4F);
  p = multiply_add(p, z, 8.33306368e-3F);
  p = multiply_add(p, z, -1.66666597e-1F);
  const float sine = multiply_add(p * z, r, r);
  return sine * sine;
}

// Natural logarithm within 2 units in the last place; -infinity at 0, NaN below. Cephes' logf.c.
inline float log(float x) {
  if (!(x >= 0.0F)) {
    return float_of(0x7FC00000U);
  }
  if (x == 0.0F) {
    return -kInfinity;
  }
  if (x == kInfinity) {
    return x;
  }
  int exponent = 0;
  constexpr float kSmallestNormal = 1.17549435e-38F;
  if (x < kSmallestNormal) {
    x *= 8388608.0F;
    exponent = -23;
  }
  // A mantissa in [0.5, 1).
  const uint32_t bits = bits_of(x);
  exponent += static_cast<int>(bits >> 23) - 126;
  float m = float_of((bits & 0x007FFFFFU) | 0x3F000000U);
  if (m < 0.707106781F) {
    --exponent;
    m = m + m;
  }
  m -= 1.0F;
  const float z = m * m;
  float p = 7.0376836292e-2F;
  p = multiply_add(p, m, -1.1514610310e-1F);
  p = multiply_add(p, m, 1.1676998740e-1F);
  p = multiply_add(p, m, -1.2420140846e-1F);
  p = multiply_add(p, m, 1.4249322787e-1F);
  p = multiply_add(p, m, -1.6668057665e-1F);
  p = multiply_add(p, m, 2.0000714765e-1F);
  p = multiply_add(p, m, -2.4999993993e-1F);
  p = multiply_add(p, m, 3.3333331174e-1F);
  const auto e = static_cast<float>(exponent);
  float y = p * m * z;
  y = multiply_add(e, -2.12194440e-4F, y);
  y = multiply_add(-0.5F, z, y);
  return multiply_add(e, 0.693359375F, m + y);
}

}  // namespace mynah::simt
