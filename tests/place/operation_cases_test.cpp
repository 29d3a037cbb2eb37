#include "place/workers/operation_cases.h"

#include <limits>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"

namespace mynah::place {
namespace {

TEST(OperationCases, HoldOnEveryDevice) {
  ThreadPool pool(2);
  const auto cpu = make_cpu_backend(pool);
  ASSERT_TRUE(cpu.has_value());
  EXPECT_EQ(compare_with_definition(run_operation_cases(**cpu)), "");
  EXPECT_EQ(compare_with_definition(run_operation_cases(*make_ref_backend())), "");
  for (const int level : simt_levels()) {
    const auto simt = make_simt_backend(pool, {.level = level});
    EXPECT_EQ(compare_with_definition(run_operation_cases(*simt)), "") << level;
  }
}

TEST(OperationCases, TellWhatIsMissingOrDiffers) {
  auto outcomes = run_operation_cases(*make_ref_backend());
  auto wrong = outcomes;
  wrong[9].values[3] += 0.01F;
  EXPECT_TRUE(compare_with_definition(wrong).starts_with("lstm is "));
  wrong = outcomes;
  wrong[0].values[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(compare_with_definition(wrong).starts_with("linear of f32 is inf"));
  outcomes.pop_back();
  EXPECT_EQ(compare_with_definition(outcomes), "rows and sums was not computed");
}

TEST(OperationCases, DifferencesAreSharesOfTheLargestMagnitude) {
  const std::vector<float> expected = {1, -4, 0};
  EXPECT_EQ(worst_difference(expected, expected), 0);
  EXPECT_DOUBLE_EQ(worst_difference(std::vector<float>{1, -4, 1}, expected), 0.25);
  EXPECT_EQ(worst_difference(std::vector<float>{1}, expected),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace mynah::place
