#include "base/atomic_file.h"

#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "corpus.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

std::string read_text(const std::string& path) {
  const auto bytes = file_contents(path);
  return {bytes.begin(), bytes.end()};
}

TEST(AtomicFile, AppearsOnCommitAndReplacesWhatWasThere) {
  const test::TemporaryFolder folder;
  for (const std::string text : {"first", "second"}) {
    auto file = AtomicFile::create(folder / "name");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->write(text));
    ASSERT_TRUE(file->pad_to(8));
    EXPECT_EQ(file->size(), 8U);
    EXPECT_NE(read_text(folder / "name").substr(0, text.size()), text) << "not before commit()";
    const Status status = file->commit();
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(read_text(folder / "name"), text + std::string(8 - text.size(), '\0'));
  }
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const test::TemporaryFolder folder;
  {
    auto file = AtomicFile::create(folder / "name");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("text"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AtomicFile, SaysWhichFolderIsMissing) {
  const test::TemporaryFolder folder;
  const auto file = AtomicFile::create(folder / "missing/name");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::NotFound);
  EXPECT_NE(file.error().message.find("missing/name"), std::string::npos);
}

TEST(AtomicFile, ReportsAWriteThatDoesNotFit) {
  const test::TemporaryFolder folder;
  auto file = AtomicFile::create(folder / "name");
  ASSERT_TRUE(file);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{.rlim_cur = 16, .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const Status status = file->write(std::string(64, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Io);
  EXPECT_NE(status.error().message.find("File too large"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace mynah
