// Functions and noise of the host, against the C library's in double.
#include "nn/host_math.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/normal_noise.h"

namespace mynah {
namespace {

using testing::Each;
using testing::ElementsAreArray;

TEST(HostMath, Exponential) {
  for (float x = -87.0F; x <= 88.0F; x += 0.0137F) {
    const double wanted = std::exp(static_cast<double>(x));
    EXPECT_NEAR(static_cast<double>(fast_exp(x)) / wanted, 1.0, 3e-7) << x;
  }
  EXPECT_EQ(fast_exp(-88.0F), 0.0F);
  EXPECT_EQ(fast_exp(-1e30F), 0.0F);
  EXPECT_EQ(fast_exp(0.0F), 1.0F);
  // What a network gives that has lost its way.
  EXPECT_EQ(fast_exp(1e30F), fast_exp(88.0F));
  EXPECT_EQ(fast_exp(std::numeric_limits<float>::infinity()), fast_exp(88.0F));
  EXPECT_TRUE(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(HostMath, Logarithm) {
  for (float x = 1e-30F; x < 1e30F; x *= 1.0173F) {
    const double wanted = std::log(static_cast<double>(x));
    EXPECT_NEAR(static_cast<double>(fast_log(x)), wanted, 2e-7 + 2e-7 * std::abs(wanted)) << x;
  }
  EXPECT_EQ(fast_log(1.0F), 0.0F);
}

TEST(HostMath, SineAndCosine) {
  for (float t = -300.0F; t <= 300.0F; t += 0.00713F) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(t);
    const auto [sine, cosine] = fast_sine_cosine_of_turns(t);
    EXPECT_NEAR(static_cast<double>(sine), std::sin(angle), 2e-7) << t;
    EXPECT_NEAR(static_cast<double>(cosine), std::cos(angle), 2e-7) << t;
  }
  EXPECT_TRUE(std::isnan(fast_sine_cosine_of_turns(std::numeric_limits<float>::quiet_NaN()).sine));
}

TEST(HostMath, HyperbolicTangent) {
  for (float x = -12.0F; x <= 12.0F; x += 0.00113F) {
    EXPECT_NEAR(static_cast<double>(fast_tanh(x)), std::tanh(static_cast<double>(x)), 4e-7) << x;
  }
}

TEST(NormalNoise, IsNormal) {
  const std::vector<float> numbers = NormalNoise(7).next(100000, 2.0F);
  double sum = 0.0;
  double squares = 0.0;
  size_t within = 0;
  for (const float number : numbers) {
    sum += static_cast<double>(number);
    squares += static_cast<double>(number) * static_cast<double>(number);
    within += std::abs(number) < 2.0F ? 1U : 0U;
  }
  const auto count = static_cast<double>(numbers.size());
  // Four standard errors of each.
  EXPECT_NEAR(sum / count, 0.0, 4.0 * 2.0 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 4.0, 4.0 * 4.0 * std::sqrt(2.0 / count));
  EXPECT_NEAR(static_cast<double>(within) / count, 0.6827, 4.0 * 0.4655 / std::sqrt(count));
}

TEST(NormalNoise, IsTheSeeds) {
  const std::vector<float> numbers = NormalNoise(7).next(5, 1.0F);
  EXPECT_EQ(NormalNoise(7).next(5, 1.0F), numbers);
  EXPECT_NE(NormalNoise(8).next(5, 1.0F), numbers);
  EXPECT_THAT(NormalNoise(7).next(5, 0.0F), Each(0.0F));
}

TEST(NormalNoise, CanBeBegunAnywhere) {
  std::vector<float> x(100);
  std::vector<float> y(100);
  NormalNoise(7).next_pairs(x, y);
  NormalNoise later(7);
  later.skip(60);
  std::vector<float> later_x(40);
  std::vector<float> later_y(40);
  later.next_pairs(later_x, later_y);
  EXPECT_THAT(later_x, ElementsAreArray(std::span(x).last(40)));
  EXPECT_THAT(later_y, ElementsAreArray(std::span(y).last(40)));
}

}  // namespace
}  // namespace mynah
