#include "place/plans/budget.h"

#include <limits>

#include <gtest/gtest.h>

namespace mynah::place {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(Budget, IsWhatIsFreeLessTheHeadroomAndTheLimit) {
  const Budget budget({{"cuda:0", 100, 80, 30}, {"cpu", 1000, 900, 100}, {"cuda:1", 100, 20, 30}},
                      40);
  ASSERT_EQ(budget.size(), 3U);
  EXPECT_EQ(budget.find("cpu"), 0U);
  EXPECT_EQ(budget.find("cuda:1"), 2U);
  EXPECT_EQ(budget.find("cuda:2"), std::nullopt);
  EXPECT_EQ(budget.usable(0), 800U);
  EXPECT_FALSE(budget.is_limited(0));
  EXPECT_EQ(budget.usable(1), 40U);
  EXPECT_TRUE(budget.is_limited(1));
  EXPECT_EQ(budget.usable(2), 0U);
  EXPECT_FALSE(budget.is_limited(2));
  EXPECT_EQ(Budget({{"cuda:0", 100, 80, 30}}, 0).usable(0), 50U);
}

TEST(Budget, LeavesWhatIsKeptToThoseWhoHaveIt) {
  const auto usable = [](uint64_t kept, uint64_t max_vram) {
    return Budget({{"cuda:0", 100, 80, 30, kept}}, max_vram).usable(0);
  };
  EXPECT_EQ(usable(20, 0), 30U);
  EXPECT_EQ(usable(60, 0), 0U);
  EXPECT_EQ(usable(20, 40), 20U) << "of what mynah may take they have a part";
  EXPECT_EQ(usable(50, 40), 0U);
  EXPECT_FALSE(Budget({{"cuda:0", 100, 80, 30, 20}}, 60).is_limited(0));
}

TEST(Budget, IsTakenWholeOrNotAtAll) {
  Budget budget({{"cpu", 0, 100, 0}}, 0);
  EXPECT_TRUE(budget.take(0, 60));
  EXPECT_FALSE(budget.take(0, 41));
  EXPECT_EQ(budget.left(0), 40U);
  EXPECT_FALSE(budget.take(0, kMost));
  EXPECT_TRUE(budget.take(0, 40));
  budget.give_back(0, 60);
  EXPECT_EQ(budget.left(0), 60U);
  EXPECT_EQ(budget.usable(0), 100U);
}

TEST(BatchBytes, CountTheFirstWindowOnceAndDoNotWrap) {
  EXPECT_EQ(batch_bytes(100, 10, 1), 100U);
  EXPECT_EQ(batch_bytes(100, 10, 8), 170U);
  EXPECT_EQ(batch_bytes(100, 10, 0), 100U);
  EXPECT_EQ(batch_bytes(kMost, 0, 8), kMost);
  EXPECT_EQ(batch_bytes(kMost, 1, 2), kMost);
  EXPECT_EQ(batch_bytes(1, kMost / 2, 4), kMost);
}

}  // namespace
}  // namespace mynah::place
