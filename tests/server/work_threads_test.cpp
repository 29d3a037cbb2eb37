#include "server/net/work_threads.h"

#include <atomic>
#include <latch>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace mynah::server {
namespace {

TEST(WorkThreads, EndWhereNothingIsToDoAndComeAgain) {
  WorkThreads threads(4, std::chrono::milliseconds(1));
  std::atomic<int> done = 0;
  for (int round = 1; round <= 20; ++round) {
    std::latch together(5);  // all at once
    for (int i = 0; i < 4; ++i) {
      while (!threads.run([&] {
        together.arrive_and_wait();
        ++done;
      })) {
        std::this_thread::yield();  // one of the last round is about to be done
      }
    }
    EXPECT_EQ(threads.count(), 4U);
    together.arrive_and_wait();
    while (threads.count() > 0U) {
      std::this_thread::yield();
    }
    EXPECT_EQ(done, 4 * round);
    EXPECT_EQ(threads.busy(), 0U);
  }
}

// A crowd leaves one for whoever has none, and what it gives back is another's.
TEST(WorkThreads, ACrowdLeavesRoomForOthers) {
  std::latch go_on(1);
  WorkThreads threads(16);
  const auto taken_by = [&](const std::string& share) {
    size_t taken = 0;
    while (threads.run([&go_on] { go_on.wait(); }, share)) {
      ++taken;
    }
    return taken;
  };
  EXPECT_EQ(taken_by("a"), 12U) << "three times the four that are left";
  EXPECT_EQ(taken_by("b"), 3U);
  EXPECT_EQ(taken_by("a"), 0U);
  EXPECT_EQ(taken_by("c"), 1U);
  EXPECT_EQ(taken_by(""), 0U) << "all are busy";
  go_on.count_down();
  while (threads.busy() > 0) {
    std::this_thread::yield();
  }
  std::latch over(1);
  ASSERT_TRUE(threads.run([&over] { over.count_down(); }, "a"));
  over.wait();
}

// They end while others want them, and while all end.
TEST(WorkThreads, DoEverythingWhoeverEnds) {
  std::atomic<int> done = 0;
  int taken = 0;
  {
    WorkThreads threads(3, std::chrono::milliseconds(0));
    for (int i = 0; i < 5000; ++i) {
      taken += threads.run([&done] { ++done; }) ? 1 : 0;
    }
    while (done < taken) {
      std::this_thread::yield();
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_EQ(done, taken);
}

}  // namespace
}  // namespace mynah::server
