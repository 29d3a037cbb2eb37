#include "base/result.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace mynah {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) {
    return fail(ErrorCode::InvalidInput, "wanted an even number, found " + std::to_string(x));
  }
  return x / 2;
}

Result<int> quarter(int x) {
  MYNAH_TRY(const int once, half(x));
  MYNAH_TRY(const int twice, half(once));
  return twice;
}

Status divisible_by_four(int x) {
  MYNAH_TRY_STATUS(quarter(x));
  return {};
}

TEST(Result, TryPassesTheValueOnAndReturnsTheError) {
  EXPECT_EQ(quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "wanted an even number, found 3");
  EXPECT_TRUE(divisible_by_four(8).has_value());
  EXPECT_EQ(divisible_by_four(7).error().code, ErrorCode::InvalidInput);
}

TEST(Result, ErrorsSayWhatWasBeingDone) {
  EXPECT_EQ(quarter(6).error().while_doing("halving twice").message,
            "halving twice: wanted an even number, found 3");
}

TEST(Result, CodesBecomeExitCodes) {
  EXPECT_EQ(exit_code(ErrorCode::InvalidInput), 1);
  EXPECT_EQ(exit_code(ErrorCode::Environment), 3);
  EXPECT_EQ(exit_code(ErrorCode::Device), 3);
}

TEST(CheckDeathTest, AFailedCheckSaysWhatAndWhere) {
  const int wanted = 3;
  EXPECT_DEATH(MYNAH_CHECK(wanted == 4, "wanted ", std::string("four")),
               "result_test.cpp:[0-9]+: wanted == 4 wanted four");
}

}  // namespace
}  // namespace mynah
