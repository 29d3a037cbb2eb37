// `mynah speak` of subtitles, as text and at their times, and of documents with notes.
#include <fstream>

#include "speak_fixture.h"

namespace mynah::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFilm =
    "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello.</i>\n\n2\n00:00:04,000 --> 00:00:05,000\nWho is "
    "it?\n";

TEST_F(SpeakVerb, SubtitlesSpeakTheirText) {
  for (const std::string name : {"film.srt", "film.vtt", "film.txt"}) {
    std::ofstream(folder_ / name) << (name == "film.vtt" ? "WEBVTT\n\n" : "") << kFilm;
    said_.clear();
    EXPECT_EQ(speak({"-f", folder_ / name, "-m", "hum", "-o", folder_ / "a.wav"}), 0) << err();
    EXPECT_THAT(said_, ElementsAre("Hello.", "Who is it?")) << name;
  }
  said_.clear();
  EXPECT_EQ(speak({kFilm, "-m", "hum", "-o", folder_ / "a.wav"}), 0) << err();
  EXPECT_THAT(said_, ElementsAre("Hello.", "Who is it?"));
  std::ofstream(folder_ / "bad.srt") << "1\n00:00:01,000 --> 00:00:0x,000\nHello.\n";
  EXPECT_EQ(speak({folder_ / "bad.srt", "-m", "hum", "-o", folder_ / "b.wav"}), 1);
  EXPECT_THAT(err(), HasSubstr("bad.srt: line 2: wanted times such as"));
}

TEST_F(SpeakVerb, KeepsTheTimesOfSubtitles) {
  std::ofstream(folder_ / "film.srt") << kFilm;
  const std::string wav = folder_ / "a.wav";
  EXPECT_EQ(speak({folder_ / "film.srt", "--keep-times", "-m", "hum", "-o", wav, "--srt",
                   folder_ / "b.srt", "--json"}),
            0)
      << err();
  EXPECT_NEAR(seconds_of(wav), 5.0, 0.001);
  ASSERT_EQ(lines().size(), 3U);
  EXPECT_NEAR(lines()[0]["start"].get<double>(), 1.0, 0.1);
  EXPECT_NEAR(lines()[1]["start"].get<double>(), 4.0, 0.1);
  EXPECT_NEAR(lines()[1]["words"][0]["start"].get<double>(), 4.0, 0.1);
  EXPECT_NEAR(lines()[2]["duration"].get<double>(), 5.0, 0.001);
  EXPECT_TRUE(lines()[2]["warnings"].empty());
  std::stringstream captions;
  captions << std::ifstream(folder_ / "b.srt").rdbuf();
  EXPECT_THAT(captions.str(), HasSubstr("00:00:04,"));
  // As text they take no longer than they are spoken.
  EXPECT_EQ(speak({folder_ / "film.srt", "-m", "hum", "-o", wav}), 0);
  EXPECT_LT(seconds_of(wav), 2);
}

TEST_F(SpeakVerb, SaysWhatIsTooLongForItsTimeFasterAndTellsIt) {
  // Letters of 10 ms each: 0.33 s fit in 0.26 s when they are said faster, two seconds not in one.
  std::string second;
  for (int i = 0; i < 15; ++i) {
    second += "bananas ";
  }
  std::ofstream(folder_ / "film.srt")
      << "1\n00:00:01,000 --> 00:00:01,260\nBananas and melons and oranges\n\n2\n00:00:10,000 --> "
         "00:00:11,000\n"
      << second << second << "\n\n3\n00:00:11,100 --> 00:00:13,000\nLate.\n";
  EXPECT_EQ(
      speak({folder_ / "film.srt", "--keep-times", "-m", "hum", "-o", folder_ / "a.wav", "--json"}),
      0)
      << err();
  const auto clauses = lines();
  EXPECT_NEAR(seconds_of(folder_ / "a.wav"), 13.0, 0.001);
  EXPECT_GT(clauses[clauses.size() - 2]["start"].get<double>(), 11.2);
  EXPECT_THAT(err(),
              HasSubstr("spoken faster, by up to 1.5x, to fit (at 0:00:01.000, 0:00:10.000)"));
  EXPECT_THAT(err(), HasSubstr("1 cue longer than their time all the same (at 0:00:10.000)"));
  EXPECT_THAT(err(), HasSubstr("1 cue begun late, behind the one before (at 0:00:11.100)"));
  EXPECT_EQ(clauses.back()["warnings"].size(), 3U);
}

TEST_F(SpeakVerb, KeepsTimesOfSubtitlesAlone) {
  std::ofstream(folder_ / "a.md") << "Hello.";
  std::ofstream(folder_ / "film.srt") << kFilm;
  std::ofstream(folder_ / "film.txt") << kFilm;
  const std::string wav = folder_ / "a.wav";
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {folder_ / "a.md", "-o", wav},
           {"Hello.", "-o", wav},
           {folder_ / "film.srt", "-o", folder_ / "out/"},
           {folder_ / "film.txt", "--output-dir", folder_ / "out"}}) {
    std::vector<std::string> all = {"--keep-times", "-m", "hum"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(speak(all), 2) << err();
    EXPECT_THAT(err(), HasSubstr("--keep-times")) << arguments[0];
  }
  std::ofstream(folder_ / "silent.srt") << "1\n00:00:01,000 --> 00:00:02,000\n\n";
  EXPECT_EQ(speak({folder_ / "silent.srt", "--keep-times", "-m", "hum", "-o", wav}), 1);
  EXPECT_THAT(err(), HasSubstr("its cues have no text"));
}

TEST_F(SpeakVerb, WritesCuesToAnyFormat) {
  std::ofstream(folder_ / "film.srt") << kFilm;
  for (const std::string name : {"a.flac", "a.m4b", "a.m4a"}) {
    EXPECT_EQ(speak({folder_ / "film.srt", "--keep-times", "-m", "hum", "-o", folder_ / name}), 0)
        << err();
    EXPECT_NEAR(seconds_of(folder_ / name), 5.0, 0.15) << name;
  }
}

TEST_F(SpeakVerb, ReadsNotesWhereItIsAsked) {
  std::ofstream(folder_ / "book.md") << "The king[^1] left. It rained.\n\n[^1]: Henry.\n";
  const std::string wav = folder_ / "book.wav";
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "-o", wav}), 0) << err();
  EXPECT_THAT(said_, ElementsAre("The king left.", "It rained."));
  said_.clear();
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "-o", wav, "--notes", "end"}), 0) << err();
  EXPECT_THAT(said_, ElementsAre("The king left.", "It rained.", HasSubstr("Henry.")));
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "-o", wav, "--notes", "no"}), 2);
  // A book that was stopped is another with its notes.
  EXPECT_EQ(speak_until("The", {folder_ / "book.md", "-m", "hum", "-o", wav}), 130);
  EXPECT_EQ(speak({folder_ / "book.md", "-m", "hum", "-o", wav, "--notes", "end"}), 0);
  EXPECT_THAT(err(), HasSubstr("begun anew"));
}

}  // namespace
}  // namespace mynah::cli
