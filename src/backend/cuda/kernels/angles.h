// Sines, cosines and angles, in plain arithmetic.
#pragma once

#include "backend/cuda/simt/simt.h"

namespace mynah::simt {

struct SineCosine {
  float sine;
  float cosine;
};

// Of an angle as a part of a whole turn, in units of 2^-64: reduced to an eighth of a turn either
// side of a quarter's in whole numbers, so that no position is too far. The polynomials of Cephes'
// sinf.c (S. Moshier), within 1e-7.
inline SineCosine sine_cosine(uint64_t turn) {
  constexpr uint64_t kEighth = uint64_t{1} << 61;
  constexpr float kRadians = 3.40612158e-19F;  // 2 pi / 2^64
  const uint64_t quarter = (turn + kEighth) >> 62;
  const auto rest = static_cast<int64_t>(turn - (quarter << 62));
  const float x = static_cast<float>(rest) * kRadians;
  const float z = x * x;
  float s = -1.9515295891e-4F;
  s = multiply_add(s, z, 8.3321608736e-3F);
  s = multiply_add(s, z, -1.6666654611e-1F);
  s = multiply_add(s * z, x, x);
  float c = 2.443315711809948e-5F;
  c = multiply_add(c, z, -1.388731625493765e-3F);
  c = multiply_add(c, z, 4.166664568298827e-2F);
  c = multiply_add(c * z, z, multiply_add(-0.5F, z, 1.0F));
  const bool crossed = (quarter & 1U) != 0;
  const float sine = crossed ? c : s;
  const float cosine = crossed ? -s : c;
  const bool opposite = (quarter & 2U) != 0;
  return {opposite ? -sine : sine, opposite ? -cosine : cosine};
}

// An angle in turns, in units of 2^-64 and of its first turn: exact to x of them.
inline uint64_t turn_of(float x) {
  constexpr uint64_t kTurns = 0x28BE60DB9391054AU;  // 2^64 / (2 pi)
  const uint32_t bits = bits_of(x);
  const int exponent = static_cast<int>(bits >> 23 & 0xFFU) - 150;
  const uint64_t mantissa = (bits & 0x007FFFFFU) | 0x00800000U;
  // The product in two halves, the lower one's upper half carried over.
  const uint64_t low = mantissa * (kTurns & 0xFFFFFFFFU);
  const uint64_t high = mantissa * (kTurns >> 32) + (low >> 32);  // in units of 2^-32
  uint64_t turn = 0;
  if (exponent >= 0) {
    turn = mantissa * kTurns << (exponent < 40 ? exponent : 40);
  } else if (exponent > -32) {
    turn = (high << (32 + exponent)) | ((low & 0xFFFFFFFFU) >> -exponent);
  } else if (exponent > -96) {
    turn = high >> (-exponent - 32);
  }
  return (bits >> 31) != 0 ? 0U - turn : turn;
}

// The angle of a point, between -pi and pi; of (0, 0) 0 or pi. Cephes' atanf.c.
inline float angle(float y, float x) {
  const float ax = x < 0.0F ? -x : x;
  const float ay = y < 0.0F ? -y : y;
  const float larger = maximum(ax, ay);
  float t = larger == 0.0F ? 0.0F : minimum(ax, ay) / larger;
  float base = 0.0F;
  if (t > 0.414213562F) {  // an eighth of a half turn
    base = 0.785398163F;
    t = (t - 1.0F) / (t + 1.0F);
  }
  const float z = t * t;
  float p = 8.05374449538e-2F;
  p = multiply_add(p, z, -1.38776856032e-1F);
  p = multiply_add(p, z, 1.99777106478e-1F);
  p = multiply_add(p, z, -3.33329491539e-1F);
  float a = base + multiply_add(p * z, t, t);
  a = ay > ax ? 1.57079633F - a : a;
  a = x < 0.0F ? 3.14159265F - a : a;
  return (bits_of(y) >> 31) != 0 ? -a : a;
}

}  // namespace mynah::simt
