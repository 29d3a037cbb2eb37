#include "audio/inputs.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/sounds.h"

namespace mynah {
namespace {

using testing::ElementsAre;

class ExpandInputs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "in/deeper");
    std::filesystem::create_directories(folder_ / "in/.hidden");
    std::filesystem::create_directories(folder_ / "nothing");
    for (const char* name : {"in/b.WAV", "in/a.mp3", "in/notes.txt", "in/deeper/c.m4a",
                             "in/.hidden/d.wav", "in/.e.wav", "odd[1].wav"}) {
      std::ofstream(folder_ / name) << "x";
    }
  }

  // What the words stand for, the folder's name taken off; errors as "error: CODE".
  std::vector<std::string> expand(const std::vector<std::string>& words) {
    std::vector<std::string> found;
    for (const auto& path : expand_inputs(words)) {
      if (path) {
        const std::string root = folder_ / "";
        found.push_back(path->starts_with(root) ? path->substr(root.size()) : *path);
      } else {
        found.push_back("error: " + path.error().message);
      }
    }
    return found;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ExpandInputs, FilesAndStandardInputStandForThemselves) {
  EXPECT_THAT(expand({"-", folder_ / "in/notes.txt", "missing.wav"}),
              ElementsAre("-", "in/notes.txt", "missing.wav"));
}

TEST_F(ExpandInputs, AFolderStandsForTheRecordingsInAndBelowIt) {
  EXPECT_THAT(expand({folder_ / "in"}), ElementsAre("in/a.mp3", "in/b.WAV", "in/deeper/c.m4a"));
}

TEST_F(ExpandInputs, APatternStandsForWhatItMatchesInTheOrderOfTheWords) {
  EXPECT_THAT(expand({folder_ / "in/b*", folder_ / "in/[an]*"}),
              ElementsAre("in/b.WAV", "in/a.mp3", "in/notes.txt"));
}

TEST_F(ExpandInputs, BracesStandForEachOfTheirWords) {
  EXPECT_THAT(expand({folder_ / "in/{b.WAV,a.mp3}"}), ElementsAre("in/b.WAV", "in/a.mp3"));
  EXPECT_THAT(expand({"odd{1}.wav"}), ElementsAre(testing::HasSubstr("matches no file")));
  EXPECT_THAT(expand({"odd{1.wav"}), ElementsAre("odd{1.wav"));
}

TEST_F(ExpandInputs, TwoStarsStandForFoldersOfAnyDepth) {
  EXPECT_THAT(expand({folder_ / "**/*.{mp3,m4a}"}), ElementsAre("in/a.mp3", "in/deeper/c.m4a"));
  EXPECT_THAT(expand({folder_ / "in/**/c.m4a"}), ElementsAre("in/deeper/c.m4a"));
  EXPECT_THAT(expand({folder_ / "**/**/*.m4a"}), ElementsAre("in/deeper/c.m4a"));
  EXPECT_THAT(expand({folder_ / "i*/**"}), ElementsAre("in/a.mp3", "in/b.WAV", "in/deeper/c.m4a"));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "in");
  EXPECT_THAT(expand({"**/*.m4a"}), ElementsAre("deeper/c.m4a"));
  EXPECT_THAT(expand({"**/*.mp3"}), ElementsAre("a.mp3"));
  std::filesystem::current_path(before);
  std::filesystem::create_directories(folder_ / "in/{x}*");
  std::ofstream(folder_ / "in/{x}*/f.ogg") << "x";
  EXPECT_THAT(expand({folder_ / "**/*.ogg"}), ElementsAre("in/{x}*/f.ogg"));
}

TEST_F(ExpandInputs, AFileWhoseNameLooksLikeAPatternIsItself) {
  EXPECT_THAT(expand({folder_ / "odd[1].wav"}), ElementsAre("odd[1].wav"));
}

TEST_F(ExpandInputs, AnAddressIsNoFile) {
  const std::vector<std::string> words = {"https://example.org/talk.mp3?part=1"};
  const auto found = expand_inputs(words);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]);
  EXPECT_EQ(found[0].error().code, ErrorCode::NotFound);
  EXPECT_EQ(found[0].error().message,
            words[0] + " is an address, and mynah reads files and pipes: fetch it first");
}

TEST_F(ExpandInputs, WhatStandsForNothingIsAnErrorInItsPlace) {
  EXPECT_THAT(expand({folder_ / "*.flac", folder_ / "nothing", "-"}),
              ElementsAre("error: " + (folder_ / "*.flac") +
                              " matches no file (patterns have *, ?, [abc], {a,b} and **/ for any "
                              "folders)",
                          testing::HasSubstr("folder without recordings"), "-"));
}

}  // namespace
}  // namespace mynah
