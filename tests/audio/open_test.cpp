// open_audio on files that libsndfile reads: values, counts, channels, rates, cuts.
#include "audio/open.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>

#include "audio/sounds.h"

namespace mynah {
namespace {

using test::hear;
using test::sine;
using test::WavFormat;
using test::write_with_sndfile;
using testing::HasSubstr;

class OpenAudio : public testing::Test {
 protected:
  std::string write(const std::vector<float>& samples, int rate_hz, int channels = 1,
                    WavFormat format = WavFormat::F32) {
    const std::string path = folder_ / "a.wav";
    test::write_wav(path, samples, rate_hz, channels, format);
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(OpenAudio, SamplesAtTheWantedRateComeOutUnchanged) {
  const auto sound = sine(440, 16000, 5001);
  EXPECT_EQ(hear(write(sound, 16000)).samples, sound);
}

TEST_F(OpenAudio, SixteenBitSamplesAreDividedBy32768) {
  const std::string path = write({-1.0F, -0.5F, 0, 0.25F, 1.0F}, 16000, 1, WavFormat::S16);
  EXPECT_THAT(hear(path).samples, testing::ElementsAre(-1.0F, -0.5F, 0, 0.25F, 32767.0F / 32768));
}

TEST_F(OpenAudio, EveryFormatOfLibsndfileGivesTheSameSound) {
  struct Case {
    const char* name;
    int format;
    float tolerance;
  };

  // Integer formats: one step; the companded one: half of its coarsest step, 1/64 of full scale.
  const std::vector<Case> cases = {
      {"u8.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 1.0F / 128},
      {"s24.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 1.0F / 8388608},
      {"f64.wav", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 0.0F},
      {"ulaw.wav", SF_FORMAT_WAV | SF_FORMAT_ULAW, 0.02F},
      {"rf64.wav", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 1.0F / 32768},
      {"a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1.0F / 32768},
      {"a.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 1.0F / 32768},
      {"a.au", SF_FORMAT_AU | SF_FORMAT_PCM_16, 1.0F / 32768},
      {"a.caf", SF_FORMAT_CAF | SF_FORMAT_PCM_16, 1.0F / 32768},
      {"a.w64", SF_FORMAT_W64 | SF_FORMAT_PCM_16, 1.0F / 32768},
  };
  const auto sound = sine(440, 16000, 16000);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string path = folder_ / c.name;
    write_with_sndfile(path, c.format, sound, 16000);
    const auto heard = hear(path);
    EXPECT_EQ(heard.error, "");
    EXPECT_LE(test::largest_difference(heard.samples, sound), c.tolerance);
  }
}

TEST_F(OpenAudio, ResamplingKeepsTheSineAndGivesTheExactCount) {
  for (const int rate_hz : {8000, 11025, 22050, 44100, 48000, 192000}) {
    SCOPED_TRACE(rate_hz);
    const size_t count = static_cast<size_t>(rate_hz) + 17;
    const auto heard = hear(write(sine(440, rate_hz, count), rate_hz));
    const auto expected_count = std::lround(static_cast<double>(count) * 16000 / rate_hz);
    ASSERT_EQ(heard.samples.size(), static_cast<size_t>(expected_count));
    const auto expected = sine(440, 16000, heard.samples.size());
    // HQ is good to 20 bits inside; at the ends the sine starts and stops, which is no sine.
    for (size_t i = 1000; i + 1000 < expected.size(); ++i) {
      ASSERT_NEAR(heard.samples[i], expected[i], 4.0F / (1 << 20)) << i;
    }
  }
}

TEST_F(OpenAudio, PiecesOfAnySizeGiveTheSameSamples) {
  const std::string path = write(sine(440, 44100, 50000), 44100);
  const auto whole = hear(path, {}, 1 << 16).samples;
  EXPECT_EQ(hear(path, {}, 1).samples, whole);
  EXPECT_EQ(hear(path, {}, 777).samples, whole);
}

TEST_F(OpenAudio, ChannelsAreMixedOrPicked) {
  std::vector<float> frames;
  for (int i = 0; i < 100; ++i) {
    for (int channel = 0; channel < 12; ++channel) {
      frames.push_back(static_cast<float>(channel) / 16);
    }
  }
  const std::string path = write(frames, 16000, 12);
  EXPECT_EQ(hear(path).samples, std::vector<float>(100, 66.0F / 12 / 16));
  AudioOpenOptions options;
  options.channel = 11;
  EXPECT_EQ(hear(path, options).samples, std::vector<float>(100, 11.0F / 16));
  options.channel = 12;
  EXPECT_THAT(hear(path, options).error, HasSubstr("has 12 channels: wanted channel 0 to 11"));
}

TEST_F(OpenAudio, ACutEqualsThatPartOfTheWhole) {
  for (const int rate_hz : {8000, 16000, 44100, 48000}) {
    SCOPED_TRACE(rate_hz);
    const std::string path = write(sine(333, rate_hz, static_cast<size_t>(rate_hz) * 4), rate_hz);
    const auto whole = hear(path).samples;
    AudioOpenOptions options;
    options.start_s = 1.2345;
    options.duration_s = 1.5;
    const auto cut = hear(path, options).samples;
    ASSERT_EQ(cut.size(), 24000U);
    const auto first = whole.begin() + 19752;
    // One single-precision rounding of a filter of a few hundred taps.
    EXPECT_LE(test::largest_difference(cut, {first, first + 24000}), 1e-5F);
  }
}

TEST_F(OpenAudio, ACutPastTheEndIsAnErrorAndOneAcrossItIsShorter) {
  const std::string path = write(sine(440, 16000, 16000), 16000);
  AudioOpenOptions options;
  options.start_s = 0.5;
  options.duration_s = 9;
  EXPECT_EQ(hear(path, options).samples.size(), 8000U);
  options.start_s = 1.5;
  EXPECT_THAT(hear(path, options).error, HasSubstr("ends before the start"));
}

TEST_F(OpenAudio, DurationIsThatOfTheWholeRecording) {
  const std::string path = write(sine(440, 44100, 66150), 44100);
  AudioOpenOptions options;
  options.start_s = 1;
  const auto source = open_audio(path, options);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->duration_s(), 1.5);
  EXPECT_EQ((*source)->rate_hz(), 16000);
}

TEST_F(OpenAudio, ValuesThatAreNoSoundDoNotSpread) {
  const std::string path = write({0.5F, std::nanf(""), INFINITY, 3.0F, -2.0F}, 16000);
  EXPECT_THAT(hear(path).samples, testing::ElementsAre(0.5F, 0, 0, 1.0F, -1.0F));
}

}  // namespace
}  // namespace mynah
