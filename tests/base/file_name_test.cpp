#include "base/file_name.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using testing::EndsWith;
using testing::StartsWith;

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

TEST(FileNames, ThatFitStayAsTheyAre) {
  EXPECT_EQ(fitting_name("talk", ".srt", 8), "talk.srt");
  EXPECT_EQ(fitting_name(std::string(251, 'x'), ".srt", 255), std::string(251, 'x') + ".srt");
}

TEST(FileNames, ThatAreTooLongAreCutAndStayDifferent) {
  const std::string a = fitting_name(std::string(252, 'x') + "a", ".srt", 255);
  const std::string b = fitting_name(std::string(252, 'x') + "b", ".srt", 255);
  EXPECT_EQ(a.size(), 255U);
  EXPECT_EQ(b.size(), 255U);
  EXPECT_NE(a, b);
  EXPECT_THAT(a, StartsWith(std::string(242, 'x') + "~"));
  EXPECT_THAT(a, EndsWith(".srt"));
  EXPECT_EQ(a, fitting_name(std::string(252, 'x') + "a", ".srt", 255));
}

TEST(FileNames, AreCutBetweenLetters) {
  for (size_t letters = 80; letters < 90; ++letters) {
    const std::string name = fitting_name(repeated("語", letters), ".srt", 255);
    EXPECT_LE(name.size(), 255U);
    const std::string stem = name.substr(0, name.find_first_of("~."));
    EXPECT_EQ(stem, repeated("語", stem.size() / 3)) << letters;
  }
  EXPECT_EQ(cut_between_letters("aé", 2), "a");
  EXPECT_EQ(cut_between_letters("aé", 3), "aé");
}

TEST(FileNames, OfFoldersThatAreNotThereAreAsLongAsTheirParentsTake) {
  const test::TemporaryFolder folder;
  EXPECT_GE(longest_name(folder / ""), 143U);
  EXPECT_EQ(longest_name(folder / "a/b/c"), longest_name(folder / ""));
}

TEST(FileNames, AnEndingGoesBehindTheNameAlone) {
  EXPECT_EQ(with_ending("out/talk.srt", ".partial"), "out/talk.srt.partial");
  EXPECT_EQ(with_ending("talk.srt", ".partial"), "talk.srt.partial");
}

// The temporary name is longer than the file's own.
TEST(FileNames, OfAnyLengthThatAFolderTakesCanBeWritten) {
  const test::TemporaryFolder folder;
  for (const std::string& name :
       {std::string(236, 'x'), std::string(251, 'x'), std::string(255, 'x'), repeated("語", 85)}) {
    auto file = AtomicFile::create(folder / name);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->write("text"));
    ASSERT_TRUE(file->commit());
    EXPECT_EQ(std::filesystem::file_size(folder / name), 4U);
  }
  const auto files = std::filesystem::directory_iterator(folder / "");
  EXPECT_EQ(std::distance(begin(files), end(files)), 4);
  const auto too_long = AtomicFile::create(folder / std::string(256, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, EndsWith("File name too long"));
}

}  // namespace
}  // namespace mynah
