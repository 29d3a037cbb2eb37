// Speech in less or more time, and how loud it is.
#include "audio/time_stretch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "audio/loudness.h"
#include "audio/resampler.h"

namespace mynah {
namespace {

constexpr int kRate = 24000;

std::vector<float> tone(double hz, double amplitude, double seconds, int rate_hz = kRate) {
  std::vector<float> samples(static_cast<size_t>(seconds * rate_hz));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double phase = 2 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz;
    samples[i] = static_cast<float>(amplitude * std::sin(phase));
  }
  return samples;
}

double rises_per_second(const std::vector<float>& samples, int rate_hz) {
  size_t rises = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    rises += samples[i - 1] < 0 && samples[i] >= 0 ? 1 : 0;
  }
  return static_cast<double>(rises) * rate_hz / static_cast<double>(samples.size());
}

TEST(TimeStretch, TakesTheTimeThatWasAskedForAtItsOwnPitch) {
  for (const int rate_hz : {16000, 22050, 24000}) {
    const std::vector<float> voice = tone(150, 0.3, 2, rate_hz);
    for (const double speed : {0.25, 0.5, 0.8, 1.1, 1.5, 2.0, 3.0, 4.0}) {
      const std::vector<float> other = stretch_time(voice, rate_hz, speed);
      EXPECT_NEAR(static_cast<double>(other.size()), static_cast<double>(voice.size()) / speed, 1);
      EXPECT_NEAR(rises_per_second(other, rate_hz), 150, 6) << speed;
      const float peak = std::ranges::max(other);
      EXPECT_NEAR(peak, 0.3F, 0.02F) << speed;
    }
  }
}

TEST(TimeStretch, AtItsOwnSpeedNothingChanges) {
  const std::vector<float> voice = tone(150, 0.3, 0.5);
  EXPECT_EQ(stretch_time(voice, kRate, 1), voice);
}

TEST(TimeStretch, TakesSilenceLoudSoundAndNothing) {
  EXPECT_EQ(stretch_time(std::vector<float>(1000), kRate, 2), std::vector<float>(500));
  EXPECT_TRUE(stretch_time({}, kRate, 2).empty());
  // What is beyond full scale is not folded back by a computation in whole numbers.
  const std::vector<float> loud = stretch_time(tone(150, 3, 1), kRate, 2);
  EXPECT_NEAR(std::ranges::max(loud), 3, 0.1);
  // What is quieter than a step of 16 bits is there, too.
  EXPECT_NEAR(std::ranges::max(stretch_time(tone(150, 1e-5, 1), kRate, 0.5)), 1e-5, 1e-6);
}

// EBU Tech 3341, case 1, of one channel: a sine of 1 kHz at -23 dBFS in two channels is -23 LUFS;
// in one it is 3.01 LU below.
TEST(Loudness, IsThatOfTheStandardsFirstCase) {
  for (const int rate_hz : {16000, 24000, 48000}) {
    const auto lufs = loudness_lufs(tone(1000, std::pow(10, -23.0 / 20), 20, rate_hz), rate_hz);
    ASSERT_TRUE(lufs.has_value());
    EXPECT_NEAR(*lufs, -26.01, 0.1) << rate_hz;
  }
}

TEST(Loudness, OfSilenceAndOfTheShortestThereIsNone) {
  EXPECT_FALSE(loudness_lufs(std::vector<float>(kRate), kRate).has_value());
  EXPECT_FALSE(loudness_lufs(tone(1000, 0.5, 0.1), kRate).has_value());
  EXPECT_FALSE(loudness_lufs({}, kRate).has_value());
}

double true_peak(const std::vector<float>& samples) {
  std::vector<float> wave;
  auto resampler = Resampler::create(kRate, 8 * kRate);
  EXPECT_TRUE(resampler && resampler->push(samples, wave) && resampler->finish(wave));
  float peak = 0;
  for (const float value : wave) {
    peak = std::max(peak, std::abs(value));
  }
  return 20 * std::log10(peak);
}

TEST(LimitPeaks, NoWaveGoesBeyondAndWhatIsFarFromOneStays) {
  std::vector<float> samples = tone(200, 0.4, 1);
  for (size_t i = 12000; i < 12200; ++i) {
    samples[i] *= 4;
  }
  const std::vector<float> before = samples;
  limit_peaks(samples, kRate, -1);
  EXPECT_LE(true_peak(samples), -1.0);
  EXPECT_GT(true_peak(samples), -2.0);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i < 12000 - 200 || i > 12200 + 200) {
      ASSERT_EQ(samples[i], before[i]) << i;
    }
  }
}

// A sine of a quarter of the rate whose samples miss its peaks: each is 3 dB below them.
TEST(LimitPeaks, SeesPeaksBetweenSamples) {
  std::vector<float> samples(kRate);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double phase = std::numbers::pi * (0.5 * static_cast<double>(i) + 0.25);
    samples[i] = static_cast<float>(1.2 * std::sin(phase));
  }
  // So that its begin and end are no steps, whose ringing is another matter.
  for (size_t i = 0; i < 2000; ++i) {
    samples[i] *= static_cast<float>(i) / 2000;
    samples[samples.size() - 1 - i] *= static_cast<float>(i) / 2000;
  }
  ASSERT_LT(std::ranges::max(samples), 0.87F);
  limit_peaks(samples, kRate, -1);
  EXPECT_LE(true_peak(samples), -0.95);
}

TEST(LimitPeaks, LeavesWhatIsBelow) {
  std::vector<float> samples = tone(200, 0.88, 1);
  const std::vector<float> before = samples;
  limit_peaks(samples, kRate, -1);
  EXPECT_EQ(samples, before);
  std::vector<float> none;
  limit_peaks(none, kRate, -1);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace mynah
