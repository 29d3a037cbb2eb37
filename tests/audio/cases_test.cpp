// Recordings of users' reports, from the shared folder: what is heard, when, and what is said.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/open.h"
#include "audio/sounds.h"
#include "test_paths.h"

namespace mynah {
namespace {

// Reads the file `name` of a case, or skips the test.
#define MYNAH_CASE(path, name)                                                   \
  const std::string path = test::shared_path("cases/hear/" + std::string(name)); \
  MYNAH_SKIP_WITHOUT(path)

test::Heard hear_case(const std::string& path, AudioOpenOptions options = {}) {
  options.media_program = MYNAH_MEDIA_PROGRAM;
  return test::hear(path, options);
}

double seconds(const test::Heard& heard) {
  return static_cast<double>(heard.samples.size()) / 16000;
}

TEST(Cases, ARecordingWithADateIsHeard) {
  MYNAH_CASE(path, "dated-mp4-mkv-refused/date.m4a");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 3.96, 0.1);
}

// Seconds before the first sample that is loud.
double onset(const test::Heard& heard, double from_s = 0) {
  for (auto i = static_cast<size_t>(from_s * 16000); i < heard.samples.size(); ++i) {
    if (std::abs(heard.samples[i]) > 0.02F) {
      return static_cast<double>(i) / 16000;
    }
  }
  return -1;
}

double loudness(const test::Heard& heard) {
  double squares = 0;
  for (const float sample : heard.samples) {
    squares += sample * sample;
  }
  return std::sqrt(squares / static_cast<double>(heard.samples.size()));
}

TEST(Cases, AGapOfAnyLengthKeepsTheTimesBehindIt) {
  MYNAH_CASE(path, "gap-over-60s/gap90.webm");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 98.47, 0.05);
  EXPECT_NEAR(onset(heard, 10), 94.7, 0.2);
}

TEST(Cases, SoundThatBeginsAfterThePictureKeepsTheFilmsTime) {
  MYNAH_CASE(path, "late-audio-track/late.mp4");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 8.96, 0.05);
  EXPECT_GT(onset(heard), 4.9);
}

TEST(Cases, ChannelsThatCancelEachOtherAreHeardAndTold) {
  MYNAH_CASE(path, "phase-inverted/phase.mp3");
  std::string note;
  AudioOpenOptions options;
  options.note = [&note](const std::string& text) { note += text; };
  const auto mixed = hear_case(path, options);
  EXPECT_THAT(note, testing::HasSubstr("cancel each other"));
  options.channel = 0;
  const auto left = hear_case(path, options);
  EXPECT_NEAR(loudness(mixed), loudness(left), 0.05 * loudness(left));
}

TEST(Cases, SpeechInTheCentreOfAFilmIsLouderThanWhatSurroundsIt) {
  MYNAH_CASE(path, "surround-51-downmix/s51d_0.25.mkv");
  const auto mixed = hear_case(path);
  AudioOpenOptions options;
  options.channel = 2;
  const auto centre = hear_case(path, options);
  ASSERT_EQ(mixed.samples.size(), centre.samples.size());
  double product = 0;
  for (size_t i = 0; i < mixed.samples.size(); ++i) {
    product += mixed.samples[i] * centre.samples[i];
  }
  const double correlation =
      product / static_cast<double>(mixed.samples.size()) / (loudness(mixed) * loudness(centre));
  EXPECT_GT(correlation, 0.7);  // the plain mean: 0.2
}

TEST(Cases, ASecondTrackIsNamedAndCanBeAskedFor) {
  MYNAH_CASE(path, "second-audio-track/tracks.mkv");
  std::string note;
  AudioOpenOptions options;
  options.note = [&note](const std::string& text) { note += text; };
  const auto first = hear_case(path, options);
  EXPECT_THAT(note,
              testing::HasSubstr("holds 2 audio tracks (1: eng aac 'Desktop', 2: eng aac 'Mic')"));

  options.track = "2";
  const auto second = hear_case(path, options);
  EXPECT_EQ(second.error, "");
  EXPECT_NE(first.samples, second.samples);
  options.track = "en,eng";
  EXPECT_EQ(hear_case(path, options).samples, first.samples);
  for (const char* wanted : {"3", "0", "deu", "x"}) {
    options.track = wanted;
    EXPECT_THAT(
        hear_case(path, options).error,
        testing::HasSubstr("has no audio track " + std::string(wanted) + ": wanted one of"));
  }
}

TEST(Cases, ATrackThatCannotBeDecodedIsPassedOver) {
  MYNAH_CASE(path, "undecodable-first-track/spatial2.qta");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 11, 0.1);
}

TEST(Cases, AWavWhoseRecorderCrashedIsHeardToItsEnd) {
  MYNAH_CASE(path, "wav-size-zero/w_zero.wav");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 3.955, 0.01);
}

TEST(Cases, SamplesWithoutAHeaderAreRefusedAndRawIsNamed) {
  MYNAH_CASE(path, "raw-telephony-extensions/tel.ul");
  EXPECT_THAT(hear_case(path).error, testing::HasSubstr("--raw mulaw --raw-rate 8000"));
  AudioOpenOptions options;
  options.raw = {.rate_hz = 8000, .channels = 1, .encoding = "mulaw"};
  EXPECT_NEAR(seconds(hear_case(path, options)), 11, 0.01);
}

TEST(Cases, AWavBehindAWavIsHeard) {
  MYNAH_CASE(path, "cat-two-wavs/w_twowavs.wav");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 7.91, 0.02);
}

TEST(Cases, ARecordingInAnotherCodecThatWasJoinedOnIsHeard) {
  MYNAH_CASE(path, "chained-codec-change/chained2.ogg");
  const auto heard = hear_case(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 14.955, 0.01);
}

}  // namespace
}  // namespace mynah
