#include "audio/inputs.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
    inputs_ = expand_inputs(words);
    for (const Input& input : inputs_.found) {
      if (input.status) {
        const std::string root = folder_ / "";
        found.push_back(input.name.starts_with(root) ? input.name.substr(root.size()) : input.name);
      } else {
        found.push_back("error: " + input.status.error().message);
      }
    }
    return found;
  }

  test::TemporaryFolder folder_;
  Inputs inputs_;  // of the last expand()
};

TEST_F(ExpandInputs, FilesAndStandardInputStandForThemselves) {
  EXPECT_THAT(expand({"-", folder_ / "in/notes.txt", "missing.wav"}),
              ElementsAre("-", "in/notes.txt", "missing.wav"));
}

TEST_F(ExpandInputs, AFolderStandsForTheRecordingsInAndBelowIt) {
  EXPECT_THAT(expand({folder_ / "in"}), ElementsAre("in/a.mp3", "in/b.WAV", "in/deeper/c.m4a"));
}

TEST_F(ExpandInputs, ProgramsWithARecordingsNameArePassedOver) {
  std::ofstream(folder_ / "in/app.ts") << "export const a = 1;\n";
  std::ofstream(folder_ / "in/go.mod") << "module example.org/a\n";
  std::ofstream(folder_ / "in/film.ts", std::ios::binary)
      << std::string("\x47\x40\0\x10\0\0\xB0\x0D", 8) + std::string(180, '\xFF');
  std::ofstream(folder_ / "in/empty.ts");
  EXPECT_THAT(expand({folder_ / "in"}),
              ElementsAre("in/a.mp3", "in/b.WAV", "in/deeper/c.m4a", "in/empty.ts", "in/film.ts"));
  EXPECT_EQ(inputs_.passed_over.at(0).files.at(".ts"), 1U);
  EXPECT_THAT(expand({folder_ / "in/app.ts"}), ElementsAre("in/app.ts"));
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
  const auto found = expand_inputs(words).found;
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0].status);
  EXPECT_EQ(found[0].status.error().code, ErrorCode::NotFound);
  EXPECT_EQ(found[0].status.error().message,
            words[0] + " is an address, and mynah reads files and pipes: fetch it first");
}

TEST_F(ExpandInputs, WhatStandsForNothingIsAnErrorInItsPlace) {
  EXPECT_THAT(expand({folder_ / "*.flac", folder_ / "nothing", "-"}),
              ElementsAre("error: " + (folder_ / "*.flac") +
                              " matches no file (patterns have *, ?, [abc], {a,b} and **/ for any "
                              "folders)",
                          testing::HasSubstr("folder without recordings"), "-"));
}

TEST_F(ExpandInputs, FoldersTakeEveryExtensionOfRecordings) {
  std::filesystem::create_directories(folder_ / "all");
  std::vector<std::string> expected;
  for (const std::string extension :
       {"3g2", "3gpp", "awb", "m4r", "mpga", "mxf", "qta", "ra", "sph", "vob", "weba"}) {
    std::ofstream(folder_ / ("all/a." + extension)) << "x";
    expected.push_back("all/a." + extension);
  }
  EXPECT_EQ(expand({folder_ / "all"}), expected);
  EXPECT_THAT(inputs_.passed_over, testing::IsEmpty());
}

TEST_F(ExpandInputs, FoldersCountWhatTheyPassOver) {
  for (const char* name : {"in/b.txt", "in/page.PDF", "in/README", "in/samples.raw"}) {
    std::ofstream(folder_ / name) << "x";
  }
  std::filesystem::create_directory_symlink(folder_ / "nothing", folder_ / "in/link");
  EXPECT_THAT(expand({folder_ / "in"}), ElementsAre("in/a.mp3", "in/b.WAV", "in/deeper/c.m4a"));
  ASSERT_EQ(inputs_.passed_over.size(), 1U);
  EXPECT_EQ(inputs_.passed_over[0].folder, folder_ / "in");
  EXPECT_THAT(inputs_.passed_over[0].files,
              ElementsAre(std::pair("", 1U), std::pair(".pdf", 1U), std::pair(".raw", 1U),
                          std::pair(".txt", 2U)));
  EXPECT_EQ(inputs_.passed_over[0].linked_folders, 1U);
}

TEST_F(ExpandInputs, SamplesWithoutAHeaderAreTakenWhereTheirEncodingIsKnown) {
  std::ofstream(folder_ / "in/samples.ulaw") << "x";
  const std::vector<std::string> words = {folder_ / "in"};
  const Inputs inputs = expand_inputs(words, FolderTakes::Headerless);
  ASSERT_EQ(inputs.found.size(), 1U);
  EXPECT_EQ(inputs.found[0].name, folder_ / "in/samples.ulaw");
}

TEST_F(ExpandInputs, ALinkToNothingIsARecordingThatCannotBeRead) {
  std::filesystem::create_symlink("gone.wav", folder_ / "in/link.wav");
  std::filesystem::create_symlink("loop.wav", folder_ / "in/loop.wav");
  EXPECT_THAT(expand({folder_ / "in"}),
              ElementsAre("in/a.mp3", "in/b.WAV", "in/deeper/c.m4a", "in/link.wav", "in/loop.wav"));
}

TEST_F(ExpandInputs, AFolderThatCannotBeListedStopsNothing) {
  std::filesystem::create_directories(folder_ / "in/lost+found");
  std::filesystem::permissions(folder_ / "in/lost+found", std::filesystem::perms::none);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  // Root may list every folder, so it is `nobody` for as long as it lists this one.
  const uid_t user = ::geteuid();
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::seteuid(user == 0 ? kNobody : user), 0);
  const std::vector<std::string> found = expand({folder_ / "in"});
  const Inputs inputs = std::move(inputs_);
  const std::vector<std::string> matched = expand({folder_ / "in/**/*.m4a"});
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_THAT(found, ElementsAre("error: " + (folder_ / "in/lost+found") +
                                     ": cannot list the folder: Permission denied",
                                 "in/a.mp3", "in/b.WAV", "in/deeper/c.m4a"));
  EXPECT_EQ(inputs.found[0].name, folder_ / "in/lost+found");
  EXPECT_THAT(matched, ElementsAre("in/deeper/c.m4a"));
  std::filesystem::permissions(folder_ / "in/lost+found", std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace mynah
