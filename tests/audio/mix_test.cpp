// Channels mixed to one: by their speakers, and where they cancel each other.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/channel_phase.h"
#include "audio/sounds.h"
#include "audio/speakers.h"

namespace mynah {
namespace {

TEST(Mix, AFilmsCentreWeighsMostAndItsLowFrequenciesNothing) {
  const std::vector<Speaker> film = {kFrontLeft,    kFrontRight, kFrontCentre,
                                     kLowFrequency, kSideLeft,   kSideRight};
  constexpr float kSum = 1 + 2 * 0.70710678F + 2 * 0.5F;
  const std::vector<float> wanted = {0.70710678F / kSum, 0.70710678F / kSum, 1 / kSum, 0,
                                     0.5F / kSum,        0.5F / kSum};
  EXPECT_THAT(mono_weights(film, 6), testing::Pointwise(testing::FloatNear(1e-6F), wanted));
}

TEST(Mix, UnknownSpeakersWeighTheSame) {
  EXPECT_THAT(mono_weights({}, 4), testing::Each(0.25F));
  const std::vector<Speaker> low = {kLowFrequency, kLowFrequency};
  EXPECT_THAT(mono_weights(low, 2), testing::Each(0.5F));
}

TEST(Mix, OfAnAmbisonicSoundTheSumOfAllDirectionsIsTaken) {
  const std::vector<Speaker> first_order = {kFrontCentre, kDirectional, kDirectional, kDirectional};
  EXPECT_THAT(mono_weights(first_order, 4), testing::ElementsAre(1, 0, 0, 0));
}

// Two channels of `seconds` at 16 kHz: `left` and `right` times a noise, and a noise of their own.
std::vector<float> stereo(float left, float right, float own, int seconds) {
  std::minstd_rand random(1);
  std::normal_distribution<float> noise(0, 0.1F);
  std::vector<float> frames(size_t{32000} * static_cast<size_t>(seconds));
  for (size_t i = 0; i < frames.size(); i += 2) {
    const float both = noise(random);
    frames[i] = left * both + own * noise(random);
    frames[i + 1] = right * both + own * noise(random);
  }
  return frames;
}

struct Mixed {
  std::vector<float> mono;
  int told = 0;
};

Mixed mix(std::span<const float> frames, size_t block, std::vector<float> weights = {0.5F, 0.5F}) {
  ChannelPhase phase(weights);
  const size_t channels = weights.size();
  Mixed mixed;
  mixed.mono.resize(frames.size() / channels);
  const std::span mono(mixed.mono);
  for (size_t at = 0; at < mono.size(); at += block) {
    const size_t count = std::min(block, mono.size() - at);
    mixed.told +=
        phase.mix(frames.subspan(channels * at, channels * count), mono.subspan(at, count)) ? 1 : 0;
  }
  return mixed;
}

TEST(Mix, OrdinaryStereoIsItsMeanToTheBit) {
  for (const auto& frames :
       {stereo(1, 1, 0.1F, 5), stereo(0, 0, 1, 5), stereo(1, 0, 0, 5), stereo(1, -0.5F, 0.5F, 5)}) {
    for (const size_t block : {size_t{7}, size_t{160}, size_t{4096}}) {
      const Mixed mixed = mix(frames, block);
      for (size_t i = 0; i < mixed.mono.size(); ++i) {
        ASSERT_EQ(mixed.mono[i], (frames[2 * i] + frames[2 * i + 1]) * 0.5F);
      }
      EXPECT_EQ(mixed.told, 0);
    }
  }
}

TEST(Mix, OppositeChannelsAreHeardFromTheFirstBlockOnAndToldOnce) {
  const auto frames = stereo(1, -1, 0.02F, 5);
  const Mixed mixed = mix(frames, 4096);
  EXPECT_EQ(mixed.told, 1);
  for (size_t i = 0; i < mixed.mono.size(); ++i) {
    ASSERT_NEAR(mixed.mono[i], frames[2 * i], 0.02F);
  }
}

TEST(Mix, ChannelsThatNoLongerOpposeAreSummedAgainWithoutAClick) {
  auto frames = stereo(1, -1, 0, 3);
  const auto same = stereo(1, 1, 0, 3);
  frames.insert(frames.end(), same.begin(), same.end());
  const Mixed mixed = mix(frames, 1000);
  for (size_t i = mixed.mono.size() - 16000; i < mixed.mono.size(); ++i) {
    ASSERT_EQ(mixed.mono[i], (frames[2 * i] + frames[2 * i + 1]) * 0.5F);
  }
}

TEST(Mix, ChannelsThatBeginToOpposeAreHeardWithinAMoment) {
  auto frames = stereo(1, 1, 0, 5);
  const auto opposed = stereo(1, -1, 0, 3);
  frames.insert(frames.end(), opposed.begin(), opposed.end());
  const Mixed mixed = mix(frames, 1000);
  for (size_t i = size_t{5} * 16000 + 2000; i < mixed.mono.size(); ++i) {
    ASSERT_EQ(mixed.mono[i], frames[2 * i]);
  }
}

TEST(Mix, OfAFilmTheFrontsAndSurroundsThatOpposeAreHeard) {
  const std::vector<Speaker> film = {kFrontLeft,    kFrontRight, kFrontCentre,
                                     kLowFrequency, kBackLeft,   kBackRight};
  const std::vector<float> weights = mono_weights(film, 6);
  const auto pair = stereo(1, -1, 0, 3);
  for (const size_t left : {size_t{0}, size_t{4}}) {
    std::vector<float> frames(pair.size() * 3);
    for (size_t i = 0; i < pair.size() / 2; ++i) {
      frames[6 * i + left] = pair[2 * i];
      frames[6 * i + left + 1] = pair[2 * i + 1];
      frames[6 * i + 3] = pair[2 * i + 1];  // low frequencies are never heard
    }
    const Mixed mixed = mix(frames, 1024, weights);
    EXPECT_EQ(mixed.told, 1);
    for (size_t i = 0; i < mixed.mono.size(); ++i) {
      ASSERT_NEAR(mixed.mono[i], 2 * weights[left] * pair[2 * i], 1e-6F);
    }
  }
}

TEST(Mix, OfFourMicrophonesTwoOfThemWiredWronglyAllAreHeard) {
  const auto pair = stereo(1, -1, 0, 1);
  std::vector<float> frames(pair.size() * 2);
  for (size_t i = 0; i < pair.size(); ++i) {
    frames[i / 2 * 4 + i % 2] = frames[i / 2 * 4 + 2 + i % 2] = pair[i];
  }
  const Mixed mixed = mix(frames, 1024, {0.25F, 0.25F, 0.25F, 0.25F});
  for (size_t i = 0; i < mixed.mono.size(); ++i) {
    ASSERT_EQ(mixed.mono[i], pair[2 * i]);
  }
}

}  // namespace
}  // namespace mynah
