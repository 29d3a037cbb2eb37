#include "base/mapped_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace mynah {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    test::write_file(path, text);
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(MappedFileTest, ShowsTheBytesOfAFile) {
  const auto file = MappedFile::open(write("a", "hello"));
  ASSERT_TRUE(file.has_value());
  const auto bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "hello");
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  const auto file = MappedFile::open(write("empty", ""));
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST_F(MappedFileTest, SaysWhatIsWrongWithAPath) {
  const auto missing = MappedFile::open(folder_ / "missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  const auto folder = MappedFile::open(folder_.path());
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code, ErrorCode::InvalidInput);
}

TEST_F(MappedFileTest, ReleasedPagesReadTheSameAgain) {
  const auto file = MappedFile::open(write("big", std::string(100000, 'x')));
  ASSERT_TRUE(file.has_value());
  (*file)->release_pages((*file)->bytes());
  EXPECT_EQ((*file)->bytes()[70000], std::byte{'x'});
}

TEST(MappedBytes, AreCopiedAndNamed) {
  std::string text = "bytes";
  const auto file = MappedFile::from_bytes(std::as_bytes(std::span(text)), "a member");
  text[0] = 'X';
  EXPECT_EQ(file->bytes()[0], std::byte{'b'});
  EXPECT_EQ(file->path(), "a member");
}

}  // namespace
}  // namespace mynah
