// What processes that share a card's memory write down, and who is counted.
#include "gpu/fake_driver/memory_ledger.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace mynah::gpu::fake {
namespace {

constexpr uint8_t kCard = 0xA1;

class Ledger : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "memory";
  MemoryLedger ledger_{path_};

  // Bytes of the card as the file has them for that process.
  [[nodiscard]] std::string line_of(pid_t pid, uint64_t bytes) const {
    return fmt::format("{} {:02x} {}\n", pid, kCard, bytes);
  }
};

TEST_F(Ledger, AnOtherProcesssBytesAreCountedAndOursAreNot) {
  ASSERT_TRUE(ledger_.hold(kCard, 60, 100));
  EXPECT_EQ(ledger_.held_by_others(kCard), 0U);
  // The parent of this process lives as long as the test does.
  test::write_file(path_, line_of(::getppid(), 30) + line_of(::getpid(), 60));
  EXPECT_EQ(ledger_.held_by_others(kCard), 30U);
  EXPECT_EQ(ledger_.held_by_others(kCard + 1), 0U);
}

TEST_F(Ledger, HoldsNoMoreThanOthersLeave) {
  test::write_file(path_, line_of(::getppid(), 30));
  EXPECT_TRUE(ledger_.hold(kCard, 60, 100));
  EXPECT_FALSE(ledger_.hold(kCard, 71, 100));
  EXPECT_THAT(folder_.read("memory"), ::testing::HasSubstr(line_of(::getpid(), 60)));
  EXPECT_TRUE(ledger_.hold(kCard, 70, 100));
  EXPECT_THAT(folder_.read("memory"), ::testing::HasSubstr(line_of(::getpid(), 70)));
  EXPECT_FALSE(ledger_.hold(kCard, 1, 20));
  EXPECT_TRUE(ledger_.hold(kCard + 1, 100, 100)) << "another card";
}

TEST_F(Ledger, WhatWasFreedIsFreeForOthers) {
  ASSERT_TRUE(ledger_.hold(kCard, 60, 100));
  ledger_.note(kCard, 10);
  EXPECT_THAT(folder_.read("memory"), ::testing::HasSubstr(line_of(::getpid(), 10)));
  ASSERT_TRUE(ledger_.hold(kCard + 1, 5, 100));
  ledger_.forget();
  EXPECT_EQ(folder_.read("memory").find_first_not_of('\n'), std::string::npos);
}

TEST_F(Ledger, AProcessThatEndedHoldsNothingBeforeItIsWaitedFor) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::_exit(MemoryLedger(path_).hold(kCard, 80, 100) ? 0 : 1);
  }
  // It has ended, and is there still for who waits for it.
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ended.si_status, 0);
  EXPECT_THAT(folder_.read("memory"), ::testing::HasSubstr(line_of(child, 80)));
  EXPECT_EQ(ledger_.held_by_others(kCard), 0U);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(ledger_.held_by_others(kCard), 0U);
  EXPECT_TRUE(ledger_.hold(kCard, 100, 100));
}

TEST_F(Ledger, WhatIsNoLineIsPassedOver) {
  test::write_file(path_, "# held by a test\n\n" + line_of(::getppid(), 30) + "1 2\n");
  EXPECT_EQ(ledger_.held_by_others(kCard), 30U);
}

TEST_F(Ledger, AFileThatCannotBeMadeIsSaid) {
  EXPECT_TRUE(ledger_.check());
  const Status status = MemoryLedger(folder_ / "missing/memory").check();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("missing/memory cannot be read"));
}

}  // namespace
}  // namespace mynah::gpu::fake
