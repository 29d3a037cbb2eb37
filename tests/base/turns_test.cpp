#include "base/turns.h"

#include <atomic>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_pool.h"

namespace mynah {
namespace {

using ::testing::ElementsAre;

// Who computed, step by step.
class Log {
 public:
  void add(const std::string& who) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(who);
  }

  [[nodiscard]] std::vector<std::string> steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> steps_;
};

void wait_until_awaited(const Turns& turns, int by) {
  while (turns.awaited() < by) {
    std::this_thread::yield();
  }
}

// Computes so many steps, and those who are to come before the second of them wait by then.
std::jthread computes(Turns& turns, const std::string& who, Urgency urgency, int steps, Log& log) {
  return std::jthread([&turns, who, urgency, steps, &log] {
    Turns::Turn turn(turns, 1, urgency);
    for (int step = 0; step < steps; ++step) {
      log.add(who);
      turn.let_others_go_before();
    }
  });
}

TEST(Turns, UrgentWorkIsDoneBetweenTwoStepsOfTheOther) {
  Turns turns(1);
  Log log;
  Turns::Turn bulk(turns, 1, Urgency::Bulk);
  log.add("bulk");
  {
    const auto urgent = computes(turns, "urgent", Urgency::Interactive, 2, log);
    const auto more_bulk = computes(turns, "more bulk", Urgency::Bulk, 1, log);
    wait_until_awaited(turns, 2);
    bulk.let_others_go_before();
    // Goes on where it was, before its equal that came later.
    EXPECT_EQ(turns.awaited(), 1);
    log.add("bulk");
    std::this_thread::sleep_for(Turns::kSlice);
    bulk.let_others_go_before();
    log.add("bulk");
  }
  EXPECT_THAT(log.steps(), ElementsAre("bulk", "urgent", "urgent", "bulk", "more bulk", "bulk"));
}

TEST(Turns, EqualsHandTheTurnAroundWhenASliceIsOver) {
  Turns turns(1);
  Log log;
  const auto compute = [&](const std::string& who, const std::stop_token& until) {
    Turns::Turn turn(turns, 1, Urgency::Bulk);
    while (!until.stop_requested()) {
      if (log.steps().empty() || log.steps().back() != who) {
        log.add(who);
      }
      turn.let_others_go_before();
    }
  };
  {
    std::jthread one([&](const std::stop_token& until) { compute("one", until); });
    std::jthread two([&](const std::stop_token& until) { compute("two", until); });
    while (log.steps().size() < 6) {
      std::this_thread::yield();
    }
  }
  const auto steps = log.steps();
  for (size_t i = 1; i < steps.size(); ++i) {
    EXPECT_NE(steps[i], steps[i - 1]);
  }
}

TEST(Turns, AsManyAreOnAsThereIsRoomForAndWhoWantsAllIsNotPassedBy) {
  Turns turns(2);
  Log log;
  std::latch both(2);
  std::latch ends(1);
  const auto part = [&] {
    Turns::Turn turn(turns, 1, Urgency::Bulk);
    both.arrive_and_wait();  // each has its turn
    ends.wait();
    turn.let_others_go_before();
    log.add("part");
  };
  {
    const std::jthread one(part);
    const std::jthread two(part);
    both.wait();
    const std::jthread whole([&] {
      Turns::Turn turn(turns, 2, Urgency::Interactive);
      log.add("whole");
    });
    wait_until_awaited(turns, 1);
    ends.count_down();
  }
  EXPECT_THAT(log.steps(), ElementsAre("whole", "part", "part"));
}

TEST(Turns, AThreadIsAsUrgentAsItsScopeAndSoAreThePartsOfAPool) {
  EXPECT_EQ(urgency(), Urgency::Bulk);
  {
    const UrgencyScope urgent(Urgency::Interactive);
    EXPECT_EQ(urgency(), Urgency::Interactive);
    ThreadPool pool(2);
    std::atomic<int> urgent_parts{0};
    pool.split(2, [&](int) { urgent_parts += urgency() == Urgency::Interactive ? 1 : 0; });
    EXPECT_EQ(urgent_parts, 2);
    const UrgencyScope bulk(Urgency::Bulk);
    EXPECT_EQ(urgency(), Urgency::Bulk);
  }
  EXPECT_EQ(urgency(), Urgency::Bulk);
}

// Any number of threads, each more urgent now and then: everybody comes to an end, and never more
// compute than there is room for.
TEST(Turns, EverybodyComesToAnEnd) {
  constexpr int kRoom = 3;
  constexpr int kThreads = 8;
  Turns turns(kRoom);
  std::atomic<int> on{0};
  std::atomic<int> steps{0};
  {
    std::vector<std::jthread> all;
    all.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      all.emplace_back([&, i] {
        const int share = 1 + i % kRoom;
        for (int call = 0; call < 20; ++call) {
          Turns::Turn turn(turns, share, call % 4 == 0 ? Urgency::Interactive : Urgency::Bulk);
          for (int step = 0; step < 10; ++step) {
            EXPECT_LE(on.fetch_add(share) + share, kRoom);
            std::this_thread::yield();
            on.fetch_sub(share);
            ++steps;
            turn.let_others_go_before();
          }
        }
      });
    }
  }
  EXPECT_EQ(steps, kThreads * 20 * 10);
  EXPECT_EQ(turns.awaited(), 0);
}

}  // namespace
}  // namespace mynah
