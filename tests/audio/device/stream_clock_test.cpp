#include "audio/device/stream_clock.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace mynah {
namespace {

constexpr double kStepS = 0.1;

TEST(StreamClock, IsTheLineThatItWasTold) {
  StreamClock clock(16000);
  EXPECT_FALSE(clock.known());
  for (int i = 0; i < 200; ++i) {
    const double time = 100 + i * kStepS;
    clock.observe(time, (time - 100) * 16000 + 800);
  }
  EXPECT_NEAR(clock.position_at(110.05), 10.05 * 16000 + 800, 1e-6);
  EXPECT_NEAR(clock.time_of(8800), 100.5, 1e-9);
  EXPECT_NEAR(clock.true_rate_hz(), 16000, 1e-6);
}

TEST(StreamClock, FindsTheRateOfACardThatIsOff) {
  for (const double ppm : {-150.0, -20.0, 60.0, 300.0}) {
    StreamClock clock(24000);
    for (int i = 0; i <= 400; ++i) {
      clock.observe(i * kStepS, i * kStepS * 24000 * (1 + ppm * 1e-6));
    }
    // The prior weighs 100 s²; 301 times over 30 s have 301 * 30² / 12.
    const double held_back = 100 / (100 + 301 * 30.0 * 30.0 / 12);
    EXPECT_NEAR((clock.true_rate_hz() / 24000 - 1) * 1e6, ppm, std::abs(ppm) * held_back * 1.05);
    EXPECT_NEAR(clock.time_of(clock.position_at(33.0)), 33.0, 1e-9);
  }
}

TEST(StreamClock, JitterIsAveragedOut) {
  std::mt19937 random(33);
  std::uniform_real_distribution<double> jitter(-0.004, 0.004);
  StreamClock clock(16000);
  for (int i = 0; i <= 300; ++i) {
    clock.observe(i * kStepS + jitter(random), i * kStepS * 16000);
  }
  // At the end of a line through N points the error's deviation is twice sigma / sqrt(N).
  const double sigma = 0.008 / std::sqrt(12.0);
  EXPECT_NEAR(clock.position_at(30) / 16000, 30, 4 * 2 * sigma / std::sqrt(301.0));
}

TEST(StreamClock, ABreakBeginsANewLineAndAStrayOneDoesNot) {
  StreamClock clock(16000);
  for (int i = 0; i < 50; ++i) {
    clock.observe(i * kStepS, i * kStepS * 16000);
  }
  clock.observe(5.0, 5.0 * 16000 + 4000);  // a quarter of a second off, once
  EXPECT_NEAR(clock.position_at(5.0), 5.0 * 16000, 1e-6);
  clock.observe(5.1, 5.1 * 16000);
  EXPECT_NEAR(clock.position_at(5.1), 5.1 * 16000, 0.03 * 16000);
  clock.restart();
  for (int i = 0; i < 50; ++i) {
    clock.observe(i * kStepS, i * kStepS * 16000);
  }
  for (int i = 50; i < 53; ++i) {
    clock.observe(i * kStepS, i * kStepS * 16000 - 3200);
  }
  EXPECT_NEAR(clock.position_at(5.3), 5.3 * 16000 - 3200, 1e-6);
}

}  // namespace
}  // namespace mynah
