// What each format has of a recording, and which part of it is heard.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/recordings.h"
#include "cli/transcribe_fixture.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

TEST_F(Transcribe, TakesTimesInEveryForm) {
  const std::string wav = write_wav(folder / "a.wav", 5);
  for (const std::string start : {"2", "0:02", "0:00:02.000"}) {
    EXPECT_EQ(run({wav, "--start", start, "--length", "0:01", "--format", "tsv"}), 0) << err();
    EXPECT_EQ(out(), "start\tend\ttext\n2000\t3000\tsecond 0\n");
  }
  EXPECT_EQ(run({wav, "--clip", "0:01-0:00:02.5,3-"}), 0) << err();
  ASSERT_EQ(fake->last_options.cutting.clips.size(), 2U);
  EXPECT_EQ(fake->last_options.cutting.clips[0].end_s, 2.5);
}

TEST_F(Transcribe, WordTimesOfReadableSubtitlesAreInNoJsonThatDidNotAskForThem) {
  const std::string wav = write_wav(folder / "a.wav", 1);
  EXPECT_EQ(run({wav, "-o", folder / "out", "--format", "srt,json"}), 0) << err();
  EXPECT_TRUE(fake->last_options.decoding.words);
  EXPECT_FALSE(Json::parse(folder.read("out/a.json")).contains("words"));
  EXPECT_EQ(run({wav, "-o", folder / "out", "--format", "srt,json", "--words"}), 0) << err();
  EXPECT_TRUE(Json::parse(folder.read("out/a.json")).contains("words"));
  EXPECT_EQ(run({wav, "--format", "srt", "--cues", "raw"}), 0) << err();
  EXPECT_FALSE(fake->last_options.decoding.words);
}

TEST_F(Transcribe, NamesSpeakersInEveryFormat) {
  const std::string wav = write_wav(folder / "a.wav", 2, 2, 1);
  const std::map<std::string, std::string> expected = {
      {"txt", "(speaker 1) second 0\n(speaker 1) second 1\n"},
      {"tsv", "start\tend\tspeaker\ttext\n0\t1000\t1\tsecond 0\n1000\t2000\t1\tsecond 1\n"},
      {"csv", "start,end,speaker,text\n0,1000,1,\"second 0\"\n1000,2000,1,\"second 1\"\n"},
      {"lrc", "[by:mynah]\n[00:00.00](speaker 1) second 0\n[00:01.00](speaker 1) second 1\n"},
      {"aud", "0.000\t1.000\t(speaker 1) second 0\n1.000\t2.000\t(speaker 1) second 1\n"}};
  for (const auto& [format, text] : expected) {
    for (const std::string cues : {"raw", "readable"}) {
      EXPECT_EQ(run({wav, "--stereo-speakers", "--format", format, "--cues", cues}), 0) << err();
      EXPECT_EQ(out(), text) << format << cues;
    }
  }
  const std::map<std::string, std::string> subtitles = {
      {"srt raw",
       "1\n00:00:00,000 --> 00:00:01,000\n(speaker 1) second 0\n\n"
       "2\n00:00:01,000 --> 00:00:02,000\n(speaker 1) second 1\n\n"},
      {"srt readable", "1\n00:00:00,000 --> 00:00:02,000\n(speaker 1) second 0 second 1\n\n"},
      {"vtt raw",
       "WEBVTT\n\n00:00.000 --> 00:01.000\n<v Speaker 1>second 0\n\n"
       "00:01.000 --> 00:02.000\n<v Speaker 1>second 1\n\n"},
      {"vtt readable", "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Speaker 1>second 0 second 1\n\n"}};
  for (const auto& [kind, text] : subtitles) {
    EXPECT_EQ(
        run({wav, "--stereo-speakers", "--format", kind.substr(0, 3), "--cues", kind.substr(4)}), 0)
        << err();
    EXPECT_EQ(out(), text) << kind;
  }
  EXPECT_EQ(run({wav, "--stereo-speakers", "--format", "wts"}), 0);
  EXPECT_THAT(out(), HasSubstr("(speaker 1)"));
}

}  // namespace
}  // namespace mynah::cli
