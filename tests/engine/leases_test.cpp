#include "engine/leases.h"

#include <array>
#include <atomic>
#include <barrier>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "much.h"

namespace mynah::engine {
namespace {

// Counts how many of a name there are.
class Model {
 public:
  explicit Model(std::atomic<int>& alive) : alive_(alive) {
    EXPECT_EQ(alive_.fetch_add(1), 0) << "it is there twice";
  }

  ~Model() {
    used_ = -1;
    alive_.fetch_sub(1);
  }

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] int use() const { return used_; }

 private:
  std::atomic<int>& alive_;
  int used_ = 7;
};

class LeasesTest : public testing::Test {
 protected:
  Result<Leases<Model>::Lease> take(const std::string& name, const std::stop_token& stop = {}) {
    return leases_.take(
        name,
        [&]() -> Result<std::unique_ptr<const Model>> {
          ++opened_;
          return std::make_unique<const Model>(alive_.at(name.size()));
        },
        stop);
  }

  std::array<std::atomic<int>, 8> alive_{};  // by the lengths of names
  std::atomic<int> opened_{0};
  Leases<Model> leases_;
};

TEST_F(LeasesTest, OpensOnceForEverybodyWhoHoldsItAtOnce) {
  constexpr int kThreads = 8;
  std::barrier all(kThreads);
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      all.arrive_and_wait();
      const auto lease = take("a");
      ASSERT_TRUE(lease);
      EXPECT_EQ((*lease)->use(), 7);
      all.arrive_and_wait();
    });
  }
  threads.clear();
  EXPECT_EQ(opened_, 1);
  EXPECT_THAT(leases_.open(), testing::ElementsAre(testing::Pair("a", 0)));
}

TEST_F(LeasesTest, LetsGoOfWhatNobodyHeldForAWhile) {
  {
    const auto held = take("a");
    const auto other = take("bb");
    ASSERT_TRUE(held && other);
  }
  const auto held = take("a");
  EXPECT_THAT(leases_.let_go_idle(std::chrono::hours(1)), testing::IsEmpty());
  EXPECT_THAT(leases_.let_go_unused(), testing::ElementsAre("bb")) << "a is held";
  EXPECT_EQ(alive_[1], 1);
  EXPECT_EQ(alive_[2], 0);
  ASSERT_TRUE(take("bb"));
  EXPECT_EQ(opened_, 3);
}

TEST_F(LeasesTest, IsKeptAsLongAsAHolderSaid) {
  constexpr std::chrono::hours kLong{1};
  for (const char* name : {"a", "bb", "ccc"}) {
    ASSERT_TRUE(take(name));
  }
  take("a")->keep_alive({});
  take("bb")->keep_alive(kLong);
  EXPECT_THAT(leases_.let_go_idle(kLong), testing::ElementsAre("a"));
  EXPECT_THAT(leases_.let_go_idle(std::nullopt), testing::IsEmpty());
  EXPECT_THAT(leases_.let_go_idle(std::chrono::seconds(0)), testing::ElementsAre("ccc"));
  EXPECT_THAT(leases_.let_go_unused(), testing::ElementsAre("bb"));
}

TEST_F(LeasesTest, AHoldersWordIsForgottenWithWhatItWasOf) {
  take("a")->keep_alive({});
  leases_.let_go_idle(std::nullopt);
  ASSERT_TRUE(take("a"));
  EXPECT_THAT(leases_.let_go_idle(std::chrono::hours(1)), testing::IsEmpty());
}

TEST_F(LeasesTest, LookingIsNoUse) {
  ASSERT_TRUE(take("a"));
  const auto before = leases_.look();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before.front().name, "a");
  EXPECT_EQ(before.front().holders, 0U);
  EXPECT_EQ(before.front().lease->use(), 7);
  EXPECT_THAT(leases_.let_go_unused(), testing::IsEmpty()) << "who looks has it";
  const auto returned = before.front().returned;
  {
    const auto again = leases_.look();
  }
  EXPECT_EQ(leases_.look().front().returned, returned);
}

TEST_F(LeasesTest, LetsGoOfWhatIsMeantAtOnceOrWithItsLastHolder) {
  ASSERT_TRUE(take("a"));
  ASSERT_TRUE(take("ccc"));
  const auto meant = [](const std::string& name) { return name != "ccc"; };
  {
    const auto held = take("bb");
    EXPECT_THAT(leases_.let_go_of(meant), testing::ElementsAre("a", "bb"));
    EXPECT_EQ(alive_[1], 0);
    EXPECT_EQ(alive_[2], 1) << "it is held";
    EXPECT_THAT(leases_.let_go_idle(std::nullopt), testing::IsEmpty());
  }
  EXPECT_THAT(leases_.let_go_idle(std::nullopt), testing::ElementsAre("bb"));
  EXPECT_THAT(leases_.let_go_of(meant), testing::IsEmpty());
  EXPECT_EQ(alive_[3], 1);
}

TEST_F(LeasesTest, SaysWhenSomethingIsDueAndWhenThatChanges) {
  constexpr std::chrono::hours kLong{1};
  int words = 0;
  Leases<int> leases([&words] { ++words; });
  const auto open = [] { return std::make_unique<const int>(7); };
  const auto take = [&] {
    return leases.take("a", [&]() -> Result<std::unique_ptr<const int>> { return open(); });
  };
  EXPECT_EQ(leases.next_due(kLong), std::nullopt);
  ASSERT_TRUE(take());
  EXPECT_EQ(words, 1);
  EXPECT_LE(*leases.next_due(kLong), kLong);
  EXPECT_EQ(leases.next_due(std::nullopt), std::nullopt);
  take()->keep_alive(std::chrono::minutes(1));
  EXPECT_EQ(words, 2);
  EXPECT_LE(*leases.next_due(std::nullopt), std::chrono::minutes(1));
  take()->keep_alive(std::chrono::minutes(1));
  EXPECT_EQ(words, 2) << "nothing new";
  take()->keep_alive(Leases<int>::Clock::duration::max());
  EXPECT_EQ(leases.next_due(kLong), std::nullopt);
  const auto held = take();
  held->keep_alive({});
  EXPECT_EQ(leases.next_due(kLong), Leases<int>::Clock::duration());
}

TEST_F(LeasesTest, WhatCannotBeOpenedIsTriedAgainByWhoComesLater) {
  const auto refuse = []() -> Result<std::unique_ptr<const Model>> {
    return fail(ErrorCode::OutOfMemory, "no room");
  };
  const auto refused = leases_.take("a", refuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no room");
  EXPECT_THAT(leases_.open(), testing::IsEmpty());
  EXPECT_TRUE(take("a"));
}

TEST_F(LeasesTest, WhoWaitsForWhatCannotBeOpenedIsToldToo) {
  std::atomic<bool> opening{false};
  std::jthread first([&] {
    const auto refused = leases_.take("a", [&]() -> Result<std::unique_ptr<const Model>> {
      opening = true;
      opening.notify_all();
      opening.wait(true);
      return fail(ErrorCode::OutOfMemory, "no room");
    });
    EXPECT_FALSE(refused);
  });
  opening.wait(false);
  std::atomic<bool> asks{false};
  std::jthread second([&] {
    asks = true;
    asks.notify_all();
    // It waits, or comes when the first has failed and opens it.
    const auto lease = take("a");
    EXPECT_TRUE(lease || lease.error().message == "no room");
  });
  asks.wait(false);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = take("a", stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  opening = false;
  opening.notify_all();
}

TEST_F(LeasesTest, NoRequestFailsAndNothingIsThereTwiceWhateverIsLetGo) {
  constexpr int kThreads = 32;
  const size_t rounds = test::much(5000);
  const std::array<std::string, 6> names = {"a", "bb", "ccc", "dddd", "eeeee", "ffffff"};
  std::atomic<size_t> served{0};
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::minstd_rand random(static_cast<unsigned>(i + 1));
      for (size_t round = 0; round < rounds; ++round) {
        if (random() % 4 == 0) {
          leases_.let_go_unused();
          continue;
        }
        const auto lease = take(names.at(random() % names.size()));
        ASSERT_TRUE(lease) << lease.error().message;
        EXPECT_EQ((*lease)->use(), 7);
        ++served;
      }
    });
  }
  threads.clear();
  EXPECT_GT(served, kThreads * rounds / 2);
  EXPECT_GT(opened_, static_cast<int>(names.size()));
  leases_.let_go_unused();
  EXPECT_THAT(leases_.open(), testing::IsEmpty());
}

}  // namespace
}  // namespace mynah::engine
