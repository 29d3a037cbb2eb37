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
    // The prior weighs 25 s²; 301 times over 30 s have 301 * 30² / 12, and half of that where the
    // weights gather about the middle.
    const double held_back = 25 / (301 * 30.0 * 30.0 / 24);
    EXPECT_NEAR((clock.true_rate_hz() / 24000 - 1) * 1e6, ppm, std::abs(ppm) * held_back);
    EXPECT_NEAR(clock.time_of(clock.position_at(33.0)), 33.0, 1e-9);
  }
}

TEST(StreamClock, JitterIsAveragedOut) {
  std::mt19937 random(33);
  constexpr double kLatest = 0.008;
  std::uniform_real_distribution<double> jitter(0, kLatest);
  StreamClock clock(16000);
  for (int i = 0; i <= 300; ++i) {
    clock.observe(i * kStepS + jitter(random), i * kStepS * 16000);
  }
  // Of what is late by 0 to 1 the expectile of weights 0.95 and 0.05 stands at 1 / (1 + sqrt(19)) =
  // 0.187; the deviation of its estimate is 0.225 / sqrt(N), at the end of a line twice that.
  EXPECT_NEAR(clock.position_at(30) / 16000, 30 - 0.187 * kLatest,
              4 * 2 * 0.225 * kLatest / std::sqrt(301.0));
}

TEST(StreamClock, ABreakBeginsANewLineAndAStrayOneDoesNot) {
  StreamClock clock(16000);
  for (int i = 0; i < 50; ++i) {
    clock.observe(i * kStepS, i * kStepS * 16000);
  }
  clock.observe(5.0, 5.0 * 16000 + 4000);  // a quarter of a second off, once
  EXPECT_NEAR(clock.position_at(5.0), 5.0 * 16000, 1e-6);
  clock.observe(5.1, 5.1 * 16000);
  EXPECT_NEAR(clock.position_at(5.1), 5.1 * 16000, 1e-6);
  for (int i = 52; i < 54; ++i) {
    clock.observe(i * kStepS, i * kStepS * 16000 + 4000);
  }
  EXPECT_NEAR(clock.position_at(5.4), 5.4 * 16000 + 4000, 1e-6);
  for (int i = 54; i < 61; ++i) {
    clock.observe(i * kStepS, i * kStepS * 16000 - 3200);
  }
  EXPECT_NEAR(clock.position_at(6.1), 6.1 * 16000 + 4000, 1e-6) << "seven are late";
  clock.observe(6.1, 6.1 * 16000 - 3200);
  EXPECT_NEAR(clock.position_at(6.2), 6.2 * 16000 - 3200, 1e-6);
}

}  // namespace
}  // namespace mynah
