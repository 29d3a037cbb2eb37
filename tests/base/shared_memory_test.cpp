#include "base/shared_memory.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace mynah {
namespace {

// As another process would have it.
Result<SharedMemory> attached(const SharedMemory& memory) {
  return SharedMemory::attach(UniqueFd(::fcntl(memory.descriptor(), F_DUPFD_CLOEXEC, 0)));
}

TEST(SharedMemory, BeginsAsZerosOfTheSizeThatWasAskedFor) {
  const auto memory = SharedMemory::create("mynah-test", 10000);
  ASSERT_TRUE(memory) << memory.error().message;
  ASSERT_EQ(memory->bytes().size(), 10000U);
  for (const std::byte value : memory->bytes()) {
    ASSERT_EQ(value, std::byte{0});
  }
  EXPECT_EQ(SharedMemory::create("mynah-test", 0)->bytes().size(), 1U) << "nothing can be mapped";
}

TEST(SharedMemory, TwoSeeTheSame) {
  const auto ours = SharedMemory::create("mynah-test", 4096);
  const auto theirs = attached(*ours);
  ASSERT_TRUE(theirs) << theirs.error().message;
  ASSERT_EQ(theirs->bytes().size(), 4096U);
  ours->bytes()[4095] = std::byte{7};
  theirs->bytes()[0] = std::byte{8};
  EXPECT_EQ(theirs->bytes()[4095], std::byte{7});
  EXPECT_EQ(ours->bytes()[0], std::byte{8});
}

TEST(SharedMemory, GrowsAndTheOtherSideFollows) {
  auto ours = SharedMemory::create("mynah-test", 100);
  auto theirs = attached(*ours);
  ours->bytes()[99] = std::byte{1};
  ASSERT_TRUE(ours->grow(1 << 20));
  ASSERT_EQ(ours->bytes().size(), 1U << 20U);
  EXPECT_EQ(ours->bytes()[99], std::byte{1}) << "what was there stays";
  ours->bytes()[(1 << 20) - 1] = std::byte{2};
  EXPECT_EQ(theirs->bytes().size(), 100U);
  ASSERT_TRUE(theirs->follow(5000));
  EXPECT_EQ(theirs->bytes().size(), 1U << 20U) << "as far as it grew";
  EXPECT_EQ(theirs->bytes()[(1 << 20) - 1], std::byte{2});
  ASSERT_TRUE(theirs->follow(1)) << "it does not shrink";
  EXPECT_EQ(theirs->bytes().size(), 1U << 20U);
}

TEST(SharedMemory, WhatIsNotThereIsNotFollowed) {
  auto memory = SharedMemory::create("mynah-test", 100);
  for (const size_t bytes : {size_t{101}, size_t{1} << 40, std::numeric_limits<size_t>::max()}) {
    const Status followed = memory->follow(bytes);
    ASSERT_FALSE(followed) << bytes;
    EXPECT_EQ(followed.error().code, ErrorCode::InvalidInput);
  }
  EXPECT_EQ(memory->bytes().size(), 100U);
}

TEST(SharedMemory, SizesThatNobodyHasAreRefused) {
  for (const size_t bytes :
       {std::numeric_limits<size_t>::max(), size_t{1} << 63, size_t{1} << 62}) {
    EXPECT_FALSE(SharedMemory::create("mynah-test", bytes)) << bytes;
    auto memory = SharedMemory::create("mynah-test", 100);
    EXPECT_FALSE(memory->grow(bytes)) << bytes;
    memory->bytes()[99] = std::byte{1};  // is still there
  }
}

TEST(SharedMemory, CannotBeCutShort) {
  const auto memory = SharedMemory::create("mynah-test", 10000);
  EXPECT_NE(::ftruncate(memory->descriptor(), 100), 0);
  EXPECT_EQ(errno, EPERM);
  memory->bytes()[9999] = std::byte{1};
}

TEST(SharedMemory, AFileThatCouldBeCutShortIsRefused) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "file", std::string(10000, 'x'));
  const auto file = SharedMemory::attach(UniqueFd(::open((folder / "file").c_str(), O_RDWR)));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::InvalidInput);

  UniqueFd loose(::memfd_create("mynah-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(loose.get(), 10000), 0);
  EXPECT_EQ(SharedMemory::attach(std::move(loose)).error().code, ErrorCode::InvalidInput);

  UniqueFd empty(::memfd_create("mynah-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::fcntl(empty.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(SharedMemory::attach(std::move(empty)).error().code, ErrorCode::InvalidInput);

  EXPECT_FALSE(SharedMemory::attach(UniqueFd(::open("/dev/null", O_RDWR))));
  EXPECT_FALSE(SharedMemory::attach(UniqueFd()));
}

TEST(SharedMemory, HasNoNameThatAnybodyCouldOpenAndNoChildInheritsIt) {
  const auto memory = SharedMemory::create("mynah-test", 100);
  const std::string link =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(memory->descriptor()));
  EXPECT_EQ(link, "/memfd:mynah-test (deleted)");
  struct stat status{};
  ASSERT_EQ(::fstat(memory->descriptor(), &status), 0);
  EXPECT_EQ(status.st_nlink, 0U) << "no file system has it";
  EXPECT_NE(::fcntl(memory->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SharedMemory, MovesAsAValue) {
  auto first = SharedMemory::create("mynah-test", 100);
  first->bytes()[0] = std::byte{1};
  SharedMemory second = *std::move(first);
  EXPECT_EQ(second.bytes()[0], std::byte{1});
  SharedMemory third = *SharedMemory::create("mynah-test", 200);
  third = std::move(second);
  EXPECT_EQ(third.bytes().size(), 100U);
  EXPECT_EQ(third.bytes()[0], std::byte{1});
  ASSERT_TRUE(third.grow(5000));
  EXPECT_EQ(third.bytes()[0], std::byte{1});
}

}  // namespace
}  // namespace mynah
