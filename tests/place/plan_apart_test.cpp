// Plans that take a model's stages apart, where that was proven.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"
#include "place/plans/stages_apart.h"

namespace mynah::place {
namespace {

using test::card_and_cpu;
using test::kDecoder;
using test::kEncoder;
using test::memory;
using test::placed;
using test::planned;
using test::request;
using test::took;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The card is the faster with the encoder, the processor with the decoder.
PlanInput better_apart() {
  PlanInput input = card_and_cpu();
  input.together = true;
  input.measurements = {
      took(kEncoder, "cpu", DType::I8, 30, 400), took(kDecoder, "cpu", DType::I8, 1, 300),
      took(kEncoder, "cuda:0", DType::F16, 2, 900), took(kDecoder, "cuda:0", DType::F16, 4, 700)};
  return input;
}

StagesApart apart_on(const std::string& encoder, double encoder_ms, const std::string& decoder,
                     double decoder_ms) {
  const auto type = [](const std::string& device) {
    return device == "cpu" ? DType::I8 : DType::F16;
  };
  return {took(kEncoder, encoder, type(encoder), encoder_ms, 950),
          took(kDecoder, decoder, type(decoder), decoder_ms, 350)};
}

TEST(Plan, StagesAreApartWhereThatWasProvenAndIsClearlyFaster) {
  PlanInput input = better_apart();
  input.apart = {apart_on("cuda:0", 2.5, "cpu", 1.2)};
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  EXPECT_EQ(plan.stages[0].ms_per_unit, 2.5) << "as it was measured so";
  EXPECT_EQ(plan.stages[0].bytes, 950'000'000U);
  EXPECT_EQ(plan.stages[0].reason,
            "cuda:0 is 12x cpu (2.5 ms for a second of sound, 30 ms there); apart from stt.decoder "
            "on cpu, as they were proven");
  EXPECT_EQ(plan.stages[1].reason,
            "cpu is 3.3x cuda:0 (1.2 ms for a second of sound, 4 ms there); apart from stt.encoder "
            "on cuda:0, as they were proven");
  // A twentieth of what the card alone takes is too little to gain.
  input.apart = {apart_on("cuda:0", 2.5, "cpu", 3.25)};
  const Plan little = planned(input);
  EXPECT_THAT(placed(little),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  EXPECT_EQ(little.stages[1].reason,
            "cpu takes 1 ms as i8, but with the model's stages apart the whole is not clearly "
            "faster");
  // The other way round was not proven, nor is what failed.
  input.apart = {apart_on("cpu", 30, "cuda:0", 4), apart_on("cuda:0", 2.5, "cpu", 1.2)};
  input.apart[1][0].passed = false;
  input.apart[1][0].failure = "it is 0.2 from what the processor computes";
  const Plan failed = planned(input);
  EXPECT_THAT(placed(failed),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  EXPECT_EQ(failed.stages[1].reason,
            "cpu takes 1 ms as i8, but the model's stages apart failed their proof: it is 0.2 from "
            "what the processor computes");
}

TEST(Plan, StagesApartAreRuledOutByWhatRulesOutOne) {
  PlanInput input = better_apart();
  input.apart = {apart_on("cuda:0", 2.5, "cpu", 1.2)};
  input.excluded = {{kEncoder, "cuda:0", "failed just now"},
                    {kDecoder, "cuda:0", "failed just now"}};
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
  input.excluded.clear();
  input.stages[0].storage = input.stages[1].storage = DType::F16;
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  input = better_apart();
  input.apart = {apart_on("cuda:0", 2.5, "cpu", 1.2)};
  input.devices.pop_back();
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
}

TEST(Plan, WhatCouldBeBetterApartIsProvenOnceAndThenTaken) {
  PlanInput input = better_apart();
  std::vector<std::string> tried;
  const auto proof = [&](double decoder_ms, bool passes) {
    return [&tried, decoder_ms, passes](const StagesApart& imagined) {
      tried.push_back(imagined[0].device + "+" + imagined[1].device);
      StagesApart stages = apart_on(imagined[0].device, 2, imagined[1].device, decoder_ms);
      stages[1].passed = passes;
      return std::optional(stages);
    };
  };
  auto plan = make_plan(input, proof(1, true));
  ASSERT_TRUE(plan);
  EXPECT_THAT(placed(*plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  EXPECT_THAT(tried, ElementsAre("cuda:0+cpu"));
  ASSERT_TRUE(make_plan(input, proof(1, true)));
  EXPECT_EQ(tried.size(), 1U) << "it is known";
  for (const bool passes : {true, false}) {  // it is slow, or fails
    input = better_apart();
    plan = make_plan(input, proof(9, passes));
    ASSERT_TRUE(plan);
    EXPECT_THAT(placed(*plan),
                ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  }
  input = better_apart();
  plan = make_plan(input, [](const StagesApart&) { return std::nullopt; });
  ASSERT_TRUE(plan);
  EXPECT_THAT(placed(*plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  // Nothing is tried where one device is the best for both, or devices are named.
  tried.clear();
  input = card_and_cpu();
  input.together = true;
  ASSERT_TRUE(make_plan(input, proof(1, true)));
  input = better_apart();
  input.request = request("cuda:0,cpu");
  ASSERT_TRUE(make_plan(input, proof(1, true)));
  EXPECT_THAT(tried, IsEmpty());
}

TEST(PlanLadder, MovesTheStageThatLosesLeastWhereThatIsProven) {
  PlanInput input = card_and_cpu();
  input.together = true;
  input.devices[1] = memory("cuda:0", 1000);
  int proofs = 0;
  const auto prove = [&](const StagesApart& imagined) {
    ++proofs;
    return std::optional(apart_on(imagined[0].device, imagined[0].ms_per_unit, imagined[1].device,
                                  imagined[1].ms_per_unit));
  };
  const auto plan = make_plan(input, prove);
  ASSERT_TRUE(plan);
  EXPECT_EQ(proofs, 1);
  EXPECT_THAT(placed(*plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  EXPECT_EQ(plan->stages[1].reason,
            "cuda:0 has 50.0 MB to spare beside stt.encoder, 700.0 MB are needed; apart from "
            "stt.encoder on cuda:0, as they were proven");
  input.apart.clear();
  const auto whole = make_plan(input, [](const StagesApart&) { return std::nullopt; });
  ASSERT_TRUE(whole);
  EXPECT_THAT(placed(*whole), ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
}

TEST(PlanLadder, TriesAStageAloneWhereTheWholeHadNoRoom) {
  PlanInput input = card_and_cpu();
  input.together = true;
  input.measurements.resize(2);  // nothing is known of the card
  for (const Stage stage : {kEncoder, kDecoder}) {
    input.excluded.push_back({.stage = stage,
                              .device = "cuda:0",
                              .reason = "has too little memory for stt",
                              .of_whole = true,
                              .storage = DType::I8});
  }
  std::vector<std::string> tried;
  const auto prove = [&](const StagesApart& imagined) -> std::optional<StagesApart> {
    tried.push_back(imagined[0].device + "+" + imagined[1].device);
    EXPECT_EQ(imagined[0].storage, DType::I8);
    if (tried.size() == 1) {
      return std::nullopt;  // the encoder has no room either
    }
    return StagesApart{took(kEncoder, "cpu", DType::I8, 30, 400),
                       took(kDecoder, "cuda:0", DType::I8, 5, 300)};
  };
  const auto plan = make_plan(input, prove);
  ASSERT_TRUE(plan);
  EXPECT_THAT(tried, ElementsAre("cuda:0+cpu", "cpu+cuda:0")) << "what the processor is slowest at";
  EXPECT_THAT(placed(*plan),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cuda:0 as i8"));
  EXPECT_EQ(plan->stages[0].reason,
            "cuda:0 has too little memory for stt; apart from stt.decoder on cuda:0, as they were "
            "proven");
  EXPECT_EQ(plan->stages[1].reason,
            "cuda:0 is 4.4x cpu (5 ms for a second of sound, 22 ms there); apart from stt.encoder "
            "on cpu, as they were proven");
  // A card that failed is not tried with less.
  for (Exclusion& exclusion : input.excluded) {
    exclusion.of_whole = false;
  }
  input.apart.clear();
  tried.clear();
  ASSERT_TRUE(make_plan(input, prove));
  EXPECT_THAT(tried, IsEmpty());
}

}  // namespace
}  // namespace mynah::place
