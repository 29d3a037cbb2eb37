// How far a result may be from the exact one, from the numbers that entered it.
//
// A sum of n products in a type of unit roundoff u is within n u of the sum of their magnitudes in
// the worst case, and within about sqrt(n) u in practice (Higham & Mary 2019, "A new approach to
// probabilistic rounding error analysis"). Bounds here take the second with a margin, so that a
// lost term or a wrong type shows.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "ops/op_case.h"

namespace mynah::cases {

inline constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
// Half a unit in the last place of bfloat16.
inline constexpr float kBf16Rounding = 0x1p-8F;
// The same of half precision, and half of its smallest number: what is lost of tiny ones.
inline constexpr float kF16Rounding = 0x1p-11F;
inline constexpr float kF16Tiny = 0x1p-25F;

// Relative to the sum of magnitudes, the rounding error of a sum of n f32 products.
inline float sum_error(int64_t n) {
  return kEpsilon * (8.0F + 2.0F * std::sqrt(static_cast<float>(n)));
}

// Bounds that are the same function of every expected value.
template <class F>
std::function<std::vector<Values>(const std::vector<Values>&)> each_value(F bound_of) {
  return [bound_of](const std::vector<Values>& expected) {
    std::vector<Values> bounds = expected;
    for (Values& values : bounds) {
      for (float& value : values) {
        value = bound_of(value);
      }
    }
    return bounds;
  };
}

// Results that involve no rounding at all.
inline std::function<std::vector<Values>(const std::vector<Values>&)> exact() {
  return each_value([](float) { return 0.0F; });
}

// An element of a product: sum over n of x w, then bias, activation and residual.
struct ProductError {
  float magnitude = 0.0F;    // sum of |x| |w|, plus |bias| and |residual|
  float squares = 0.0F;      // sum of (x w)^2
  float weight_sum = 0.0F;   // sum of |w|
  float weight_norm = 0.0F;  // sqrt(sum of w^2)
  float peak = 0.0F;         // largest |x| of the row
};

// Of x and a row of weights.
ProductError product_error(std::span<const float> x, const float* w);

// The bound of a product of length n. Fast adds the rounding of activations: to int8 with one scale
// a row where the weight is int8 or of a block type, to bfloat16 where it is bfloat16, to half
// precision (on some devices) where it is that. Each as the lesser of the worst case and six
// standard deviations of independent roundings.
float product_bound(const ProductError& e, int64_t n, DType weight, Precision precision);

// An attention score, scale * q . k: the sum's rounding, and with Fast that of both factors to
// int8, each by a scale of its own.
float score_error(std::span<const float> q, const float* k, float scale, Precision precision);

}  // namespace mynah::cases
