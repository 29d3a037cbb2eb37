#include "ops/bounds.h"

#include <algorithm>

#include "tensor/quantize.h"

namespace mynah::cases {

ProductError product_error(std::span<const float> x, const float* w) {
  ProductError e;
  for (size_t k = 0; k < x.size(); ++k) {
    const float product = x[k] * w[k];
    e.magnitude += std::fabs(product);
    e.squares += product * product;
    e.weight_sum += std::fabs(w[k]);
    e.weight_norm += w[k] * w[k];
    e.peak = std::max(e.peak, std::fabs(x[k]));
  }
  e.weight_norm = std::sqrt(e.weight_norm);
  return e;
}

float product_bound(const ProductError& e, int64_t n, DType weight, Precision precision) {
  // The steepest activation is gelu: its slope reaches 1.13. Sigmoid and tanh err by a few epsilons
  // of 1 wherever they are.
  constexpr float kSlope = 1.13F;
  constexpr float kSixSigma = 6.0F;
  const float rounding = (sum_error(n) * kSlope + 8.0F * kEpsilon) * e.magnitude + 8.0F * kEpsilon;
  if (precision == Precision::Exact) {
    return rounding;
  }
  if (precision == Precision::Close && weight != DType::I8 && weight != DType::I16) {
    return rounding;
  }
  if (weight == DType::I8 || weight == DType::I16 || is_block_type(weight)) {
    const float steps = weight == DType::I16            ? static_cast<float>(kInt16Peak)
                        : precision == Precision::Close ? 127.0F * 256.0F
                                                        : 127.0F;
    const float step = e.peak / steps;
    const float worst = 0.505F * step * e.weight_sum;
    const float likely = kSixSigma * step / std::sqrt(12.0F) * e.weight_norm;
    return rounding + kSlope * std::min(worst, likely);
  }
  if (weight == DType::BF16 || weight == DType::F16) {
    // Of x (1 + d), |d| at most the unit roundoff u: u times the sum of |x w| at worst. Evenly
    // spread d have a standard deviation of u / sqrt(3). Halves below 2^-14 are a fixed step apart
    // and err by half of it, whatever x is: each by that much of |w|.
    const bool half = weight == DType::F16;
    const float roundoff = half ? kF16Rounding : kBf16Rounding;
    const float worst = roundoff * e.magnitude;
    const float likely = kSixSigma * roundoff / std::sqrt(3.0F) * std::sqrt(e.squares);
    return rounding + kSlope * (std::min(worst, likely) + (half ? kF16Tiny * e.weight_sum : 0.0F));
  }
  return rounding;
}

// Fast: query and key are rounded to int8, each by its own scale: half a step off at most, and
// evenly spread where the products are many.
float score_error(std::span<const float> q, const float* k, float scale, Precision precision) {
  float magnitude = 0.0F;
  float q_peak = 0.0F;
  float k_peak = 0.0F;
  float q_sum = 0.0F;
  float k_sum = 0.0F;
  float q_squares = 0.0F;
  float k_squares = 0.0F;
  for (size_t j = 0; j < q.size(); ++j) {
    magnitude += std::fabs(q[j] * k[j]);
    q_peak = std::max(q_peak, std::fabs(q[j]));
    k_peak = std::max(k_peak, std::fabs(k[j]));
    q_sum += std::fabs(q[j]);
    k_sum += std::fabs(k[j]);
    q_squares += q[j] * q[j];
    k_squares += k[j] * k[j];
  }
  const auto n = static_cast<float>(q.size());
  const float rounding = sum_error(static_cast<int64_t>(q.size())) * magnitude;
  const float q_step = 1.01F * q_peak / 127.0F;
  const float k_step = 1.01F * k_peak / 127.0F;
  const float both = n * q_step * k_step / 4.0F;
  const float worst = 0.5F * (k_step * q_sum + q_step * k_sum) + both;
  const float likely = 6.0F / std::sqrt(12.0F) *
                           std::sqrt(k_step * k_step * q_squares + q_step * q_step * k_squares) +
                       both / std::sqrt(n);
  return scale * (precision == Precision::Fast ? rounding + std::min(worst, likely) : rounding);
}

}  // namespace mynah::cases
