// Plans of what grows with its work: a language model's texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"
#include "place/plans/plan.h"

namespace mynah::place {
namespace {

using test::memory;
using test::planned;
using test::refusal;
using test::took;
using test::why_not;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// A language model with room for eight thousand tokens, four or two; a thousand of them take 100
// MB.
PlanInput writes_on_card(uint64_t free_megabytes, std::string_view devices = "auto") {
  PlanInput input;
  input.request = test::request(devices);
  input.stages = test::wishes({kLlmStage});
  input.stages[0].growing = GrowingMemory{.work_bytes = 50 * test::kMegabyte,
                                          .unmeasured_bytes = 900 * test::kMegabyte,
                                          .unit_bytes = test::kMegabyte / 10,
                                          .units = {8000, 4000, 2000}};
  input.devices = {memory("cpu", 3000), memory("cuda:0", free_megabytes)};
  input.measurements = {took(kLlmStage, "cpu", {}, 40, 950), took(kLlmStage, "cuda:0", {}, 4, 950)};
  return input;
}

TEST(PlanGrowing, WhatAModelMayGrowByIsPartOfWhatItNeeds) {
  const StagePlan stage = planned(writes_on_card(1800)).stages[0];
  EXPECT_EQ(stage.device, "cuda:0");
  EXPECT_EQ(stage.units, 8000);
  EXPECT_EQ(stage.grown_bytes, 800 * test::kMegabyte);
  EXPECT_EQ(stage.bytes, (950 + 50 + 800) * test::kMegabyte);
  EXPECT_EQ(stage.reason, "cuda:0 is 10x cpu (4 ms for a token, 40 ms there)");
}

TEST(PlanGrowing, WhereMemoryIsShortThereIsRoomForLess) {
  const StagePlan stage = planned(writes_on_card(1799)).stages[0];
  EXPECT_EQ(stage.device, "cuda:0");
  EXPECT_EQ(stage.units, 4000);
  EXPECT_EQ(stage.bytes, (950 + 50 + 400) * test::kMegabyte);
  EXPECT_THAT(stage.reason,
              EndsWith("; with room for 4000 tokens and not 8000, for want of memory"));
  EXPECT_EQ(planned(writes_on_card(1200)).stages[0].units, 2000);
  const StagePlan moved = planned(writes_on_card(1199)).stages[0];
  EXPECT_EQ(moved.device, "cpu");
  EXPECT_EQ(moved.units, 8000);
}

// Of what sees a window there is room for some positions, however many there are.
TEST(PlanGrowing, WhatIsOfTheFirstUnitsAloneGrowsNoFurther) {
  PlanInput input = writes_on_card(1299);
  GrowingMemory& growing = *input.stages[0].growing;
  growing.unit_bytes = test::kMegabyte / 100;
  growing.first_unit_bytes = test::kMegabyte / 10;
  growing.first_units = 2200;
  const StagePlan stage = planned(input).stages[0];
  EXPECT_EQ(stage.units, 4000);
  EXPECT_EQ(stage.grown_bytes, (40 + 220) * test::kMegabyte);
  input.devices = {memory("cpu", 3000), memory("cuda:0", 1300)};
  EXPECT_EQ(planned(input).stages[0].units, 8000);
  growing.unit_bytes = 0;
  EXPECT_EQ(planned(input).stages[0].grown_bytes, 220 * test::kMegabyte);
  EXPECT_EQ(planned(input).stages[0].units, 8000);
}

TEST(PlanGrowing, WhoNamesHowMuchThereIsToBeRoomForGetsThatMuch) {
  PlanInput input = writes_on_card(1799);
  input.stages[0].growing->units = {8000};
  const StagePlan stage = planned(input).stages[0];
  EXPECT_EQ(stage.device, "cpu");
  EXPECT_EQ(stage.units, 8000);
  EXPECT_EQ(why_not(stage, "cuda:0"), "has 1.8 GB to spare, 1.8 GB are needed");
  input = writes_on_card(1199, "cuda");
  EXPECT_THAT(refusal(input),
              AllOf(HasSubstr("there is no room for llm: cuda:0 has 1.2 GB to spare"),
                    HasSubstr("take a smaller model, ask for a smaller --context, or allow")));
}

// It is the processor, and nothing to compare it with.
TEST(PlanGrowing, WhereNobodyMeasuredTheFileSaysHowMuchIsNeeded) {
  PlanInput input = writes_on_card(0);
  input.devices = {memory("cpu", 1400)};
  input.measurements.clear();
  const StagePlan stage = planned(input).stages[0];
  EXPECT_EQ(stage.units, 4000);
  EXPECT_EQ(stage.bytes, (900 + 400) * test::kMegabyte);
  input.devices = {memory("cpu", 1000)};
  EXPECT_THAT(refusal(input), HasSubstr("cpu has 1.0 GB to spare, 1.1 GB are needed"));
}

}  // namespace
}  // namespace mynah::place
