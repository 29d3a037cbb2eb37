// Elementary functions for loops on the host: without a branch and without a call, so that the
// compiler makes vectors of them. Their errors are bounds that tests measure.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace mynah {

// e^x for x up to 88, within 3e-7 of it; 0 below -87, e^88 above 88, of no number none.
[[nodiscard]] inline float fast_exp(float x) {
  // 2^n times a polynomial over half a power of two on either side (Taylor's, to the seventh).
  const float at_least = x < -87.0F ? -87.0F : x;
  const float within = at_least > 88.0F ? 88.0F : at_least;
  const float turns = std::floor(within * 1.44269504F + 0.5F);
  // ln 2 in two parts, so that the rest keeps its last bits.
  const float rest = (within - turns * 0.693359375F) + turns * 2.12194440e-4F;
  float sum = 1.0F / 5040.0F;
  sum = sum * rest + 1.0F / 720.0F;
  sum = sum * rest + 1.0F / 120.0F;
  sum = sum * rest + 1.0F / 24.0F;
  sum = sum * rest + 1.0F / 6.0F;
  sum = sum * rest + 0.5F;
  sum = sum * rest + 1.0F;
  sum = sum * rest + 1.0F;
  const float whole = turns == turns ? turns : 0.0F;  // else the sum is no number already
  const auto exponent = static_cast<uint32_t>(static_cast<int32_t>(whole) + 127) << 23U;
  const float result = sum * std::bit_cast<float>(exponent);
  return x < -87.0F ? 0.0F : result;
}

// ln x for normal x above 0, within 2e-7 and 2e-7 of it.
[[nodiscard]] inline float fast_log(float x) {
  // x = m 2^n with m around 1; ln m = 2 atanh((m - 1) / (m + 1)).
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t shifted = bits - 0x3F3504F3U;  // sqrt(1/2)
  const auto power = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float mantissa = std::bit_cast<float>((shifted & 0x007FFFFFU) + 0x3F3504F3U);
  const float ratio = (mantissa - 1.0F) / (mantissa + 1.0F);
  const float square = ratio * ratio;
  float sum = 2.0F / 9.0F;
  sum = sum * square + 2.0F / 7.0F;
  sum = sum * square + 2.0F / 5.0F;
  sum = sum * square + 2.0F / 3.0F;
  sum = sum * square + 2.0F;
  return (power * -2.12194440e-4F + sum * ratio) + power * 0.693359375F;
}

struct SineCosine {
  float sine;
  float cosine;
};

// Of 2 pi t, |t| up to 2^22, within 2e-7; of no number none.
[[nodiscard]] inline SineCosine fast_sine_cosine_of_turns(float t) {
  // Within an eighth of a turn of a multiple of a quarter, Taylor's polynomials; the quarters turn
  // sine and cosine into each other.
  const float quarters = std::floor(t * 4.0F + 0.5F);
  const float angle = (t * 4.0F - quarters) * 1.57079633F;
  const float square = angle * angle;
  float sine = -1.0F / 5040.0F + square * (1.0F / 362880.0F);
  sine = sine * square + 1.0F / 120.0F;
  sine = sine * square - 1.0F / 6.0F;
  sine = sine * square * angle + angle;
  float cosine = 1.0F / 40320.0F - square * (1.0F / 3628800.0F);
  cosine = cosine * square - 1.0F / 720.0F;
  cosine = cosine * square + 1.0F / 24.0F;
  cosine = cosine * square - 0.5F;
  cosine = cosine * square + 1.0F;
  const float whole = std::fabs(quarters) < 16777216.0F ? quarters : 0.0F;  // also of no number
  const auto quarter = static_cast<int32_t>(whole);
  const bool swapped = (quarter & 1) != 0;
  const float own_sine = swapped ? cosine : sine;
  const float own_cosine = swapped ? sine : cosine;
  return {.sine = (quarter & 2) != 0 ? -own_sine : own_sine,
          .cosine = ((quarter + 1) & 2) != 0 ? -own_cosine : own_cosine};
}

// tanh x within 4e-7.
[[nodiscard]] inline float fast_tanh(float x) {
  const float size = std::fabs(x);
  const float within = size > 10.0F ? 10.0F : size;
  const float power = fast_exp(-2.0F * within);
  const float large = (1.0F - power) / (1.0F + power);
  return std::copysign(large, x);
}

}  // namespace mynah
