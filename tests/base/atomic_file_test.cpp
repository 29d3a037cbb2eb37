#include "base/atomic_file.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using test::write_file;
using testing::HasSubstr;

class AtomicFiles : public testing::Test {
 protected:
  Status write(const std::string& path, std::string_view text) {
    MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
    MYNAH_TRY_STATUS(file.write(text));
    return file.commit();
  }

  // Files of the folder, without order.
  [[nodiscard]] size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
};

TEST_F(AtomicFiles, AppearWholeOrNotAtAll) {
  write_file(folder_ / "a", "old");
  {
    auto file = AtomicFile::create(folder_ / "a");
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->write("new"));
    EXPECT_EQ(folder_.read("a"), "old");
  }
  EXPECT_EQ(folder_.read("a"), "old");
  EXPECT_TRUE(write(folder_ / "a", "new"));
  EXPECT_EQ(folder_.read("a"), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFiles, CanBeKeptUnderAnotherName) {
  auto file = AtomicFile::create(folder_ / "a");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write("half"));
  EXPECT_TRUE(file->commit_as(folder_ / "a.partial"));
  EXPECT_EQ(folder_.read("a.partial"), "half");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFiles, WriteBehindLinksWhichStay) {
  std::filesystem::create_directory(folder_ / "real");
  write_file(folder_ / "real/a", "old");
  std::filesystem::create_symlink("real/a", folder_ / "link");
  std::filesystem::create_symlink("link", folder_ / "again");
  EXPECT_TRUE(write(folder_ / "again", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "again"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(folder_.read("real/a"), "new");
  // To nothing as yet.
  std::filesystem::create_symlink("real/b", folder_ / "to b");
  EXPECT_TRUE(write(folder_ / "to b", "b"));
  EXPECT_EQ(folder_.read("real/b"), "b");
}

TEST_F(AtomicFiles, TakeThePlaceOfFilesAlone) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(is_device_or_pipe(pipe));
  EXPECT_TRUE(is_device_or_pipe("/dev/null"));
  EXPECT_FALSE(is_device_or_pipe(folder_.path()));
  EXPECT_FALSE(is_device_or_pipe(folder_ / "nothing"));
  const auto refused = AtomicFile::create(pipe);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is a device or a pipe"));
  const auto folder = AtomicFile::create(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a folder"));
  write_file(folder_ / "kept", "old");
  ASSERT_EQ(::chmod((folder_ / "kept").c_str(), 0444), 0);
  // root may write to it all the same.
  const auto kept = AtomicFile::create(folder_ / "kept");
  EXPECT_EQ(kept.has_value(), ::geteuid() == 0);
  EXPECT_EQ(files(), kept ? 3U : 2U);
}

}  // namespace
}  // namespace mynah
