#include "ops/bounds.h"

#include <algorithm>

namespace mynah::cases {

float product_bound(const ProductError& e, int64_t n, DType weight, Precision precision) {
  // The steepest activation is gelu: its slope reaches 1.13. Sigmoid and tanh err by a few epsilons
  // of 1 wherever they are.
  constexpr float kSlope = 1.13F;
  constexpr float kSixSigma = 6.0F;
  const float rounding = (sum_error(n) * kSlope + 8.0F * kEpsilon) * e.magnitude + 8.0F * kEpsilon;
  if (precision == Precision::Exact) {
    return rounding;
  }
  if (weight == DType::I8 || is_block_type(weight)) {
    const float step = e.peak / 127.0F;
    const float worst = 0.505F * step * e.weight_sum;
    const float likely = kSixSigma * step / std::sqrt(12.0F) * e.weight_norm;
    return rounding + kSlope * std::min(worst, likely);
  }
  if (weight == DType::BF16) {
    const float worst = kBf16Rounding * e.magnitude;
    const float likely = kSixSigma * kBf16Rounding / std::sqrt(3.0F) * std::sqrt(e.squares);
    return rounding + kSlope * std::min(worst, likely);
  }
  return rounding;
}

float score_error(std::span<const float> q, const float* k, float scale, Precision precision) {
  float magnitude = 0.0F;
  float squares = 0.0F;
  for (size_t j = 0; j < q.size(); ++j) {
    const float product = q[j] * k[j];
    magnitude += std::fabs(product);
    squares += product * product;
  }
  const float rounding = sum_error(static_cast<int64_t>(q.size())) * magnitude;
  const float bf16 = std::min(2.0F * kBf16Rounding * magnitude,
                              6.0F * kBf16Rounding * std::sqrt(2.0F / 3.0F * squares));
  return scale * (precision == Precision::Fast ? rounding + bf16 : rounding);
}

}  // namespace mynah::cases
