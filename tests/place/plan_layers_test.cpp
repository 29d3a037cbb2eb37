// Plans of a language model whose first layers may be elsewhere than the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"
#include "place/plans/stages_apart.h"

namespace mynah::place {
namespace {

using test::memory;
using test::placed;
using test::took;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A model that takes the processor 40 ms for a token, and that a card had no room for.
PlanInput too_large_for_a_card(uint64_t free_megabytes = 700) {
  PlanInput input;
  input.request = test::request("auto");
  input.together = true;
  input.stages = test::wishes({kLlmLower, kLlmStage});
  for (StageWish& wish : input.stages) {
    wish.growing = GrowingMemory{.work_bytes = 10 * test::kMegabyte,
                                 .unmeasured_bytes = 450 * test::kMegabyte,
                                 .unit_bytes = test::kMegabyte / 20,
                                 .units = {4000, 2000}};
  }
  input.devices = {memory("cpu", 4000), memory("cuda:0", free_megabytes)};
  input.measurements = {took(kLlmLower, "cpu", {}, 0, 0), took(kLlmStage, "cpu", {}, 40, 950)};
  for (const Stage stage : stages_of(kLlmGroup)) {
    input.excluded.push_back(
        {.stage = stage, .device = "cuda:0", .reason = "has too little memory", .of_whole = true});
  }
  return input;
}

// Plans with a proof that finds these times; which places were tried.
Plan planned(PlanInput& input, double lower_ms, double upper_ms, std::vector<std::string>& tried) {
  const auto plan = make_plan(input, [&](const StagesApart& imagined) {
    tried.push_back(devices_of(places_of(imagined)));
    return std::optional(StagesApart{took(kLlmLower, imagined[0].device, {}, lower_ms, 450),
                                     took(kLlmStage, imagined[1].device, {}, upper_ms, 450)});
  });
  EXPECT_TRUE(plan) << plan.error().message;
  return plan.value_or(Plan{});
}

TEST(PlanLayers, WhatACardHasNoRoomForIsTriedInTwoParts) {
  PlanInput input = too_large_for_a_card();
  std::vector<std::string> tried;
  const Plan plan = planned(input, 19, 3, tried);
  EXPECT_THAT(tried, ElementsAre("cpu,cuda:0"));
  EXPECT_THAT(placed(plan), ElementsAre("llm.lower on cpu", "llm on cuda:0"));
  EXPECT_THAT(plan.stages[1].reason, HasSubstr("apart from llm.lower on cpu, as they were proven"));
  EXPECT_EQ(plan.stages[1].bytes, (450 + 10 + 200) * test::kMegabyte) << "with its texts' part";
  EXPECT_EQ(plan.stages[0].bytes, (450 + 10 + 200) * test::kMegabyte);
}

// It was proven there, and beside it there is no room for its texts.
TEST(PlanLayers, SoIsWhatWouldFitWithoutItsTexts) {
  PlanInput input = too_large_for_a_card();
  input.excluded.clear();
  input.devices = {memory("cpu", 4000), memory("cuda:0", 1000)};
  input.measurements.push_back(took(kLlmLower, "cuda:0", {}, 0, 0));
  input.measurements.push_back(took(kLlmStage, "cuda:0", {}, 4, 950));
  std::vector<std::string> tried;
  EXPECT_THAT(placed(planned(input, 19, 3, tried)),
              ElementsAre("llm.lower on cpu", "llm on cuda:0"));
  EXPECT_THAT(tried, ElementsAre("cpu,cuda:0"));
  // With room for all of it nothing is tried.
  input.apart.clear();
  input.devices[1] = memory("cuda:0", 1400);
  EXPECT_THAT(placed(planned(input, 19, 3, tried)),
              ElementsAre("llm.lower on cuda:0", "llm on cuda:0"));
  EXPECT_EQ(tried.size(), 1U);
}

TEST(PlanLayers, BothPartsHaveRoomForTheSameTexts) {
  PlanInput input = too_large_for_a_card(600);
  std::vector<std::string> tried;
  const Plan plan = planned(input, 19, 3, tried);
  EXPECT_THAT(placed(plan), ElementsAre("llm.lower on cpu", "llm on cuda:0"));
  EXPECT_EQ(plan.stages[0].units, 2000);
  EXPECT_EQ(plan.stages[1].units, 2000);
}

TEST(PlanLayers, ATwentiethIsToBeGained) {
  for (const auto& [upper_ms, where] : {std::pair(18.0, "llm on cuda:0"), {20.0, "llm on cpu"}}) {
    PlanInput input = too_large_for_a_card();
    std::vector<std::string> tried;
    EXPECT_EQ(placed(planned(input, 19, upper_ms, tried))[1], where) << upper_ms;
    EXPECT_EQ(tried.size(), 1U);
  }
}

TEST(PlanLayers, WhatIsNotCutStaysWhole) {
  PlanInput input = too_large_for_a_card();
  for (StageWish& wish : input.stages) {
    wish.whole = true;
  }
  std::vector<std::string> tried;
  const Plan plan = planned(input, 19, 3, tried);
  EXPECT_THAT(tried, IsEmpty());
  EXPECT_THAT(placed(plan), ElementsAre("llm.lower on cpu", "llm on cpu"));
  // By name, too: one that has no work takes no memory and goes along all the same.
  input.request = test::request("cuda,cpu");
  input.excluded.clear();
  input.stages[0].growing.reset();
  input.measurements.push_back(took(kLlmLower, "cuda:0", {}, 0, 0));
  input.measurements.push_back(took(kLlmStage, "cuda:0", {}, 4, 950));
  EXPECT_THAT(placed(planned(input, 19, 3, tried)), ElementsAre("llm.lower on cpu", "llm on cpu"));
  input.devices = {memory("cpu", 400), memory("cuda:0", 400)};
  const auto refused = make_plan(std::as_const(input));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("there is no room for llm:"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("llm.lower")));
}

}  // namespace
}  // namespace mynah::place
