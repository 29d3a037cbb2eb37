#include "place/plans/plan.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"

namespace mynah::place {
namespace {

using test::card_and_cpu;
using test::failed;
using test::kDecoder;
using test::kEncoder;
using test::memory;
using test::placed;
using test::planned;
using test::refusal;
using test::request;
using test::took;
using test::why_not;
using test::wishes;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Stage kAcoustic = kTtsAcoustic;
constexpr Stage kVocoder = kTtsVocoder;

TEST(Plan, AutoTakesWhatWasMeasuredToBeFastest) {
  const Plan plan = planned(card_and_cpu());
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  EXPECT_EQ(plan.stages[0].reason, "cuda:0 is 15x cpu (2 ms for a second of sound, 30 ms there)");
  EXPECT_EQ(plan.stages[1].reason, "cuda:0 is 5.5x cpu (4 ms for a second of sound, 22 ms there)");
  EXPECT_EQ(plan.stages[0].ms_per_unit, 2);
  EXPECT_EQ(plan.stages[0].bytes, 900'000'000U);
  EXPECT_EQ(why_not(plan.stages[0], "cpu"), "takes 30 ms as i8");
}

TEST(Plan, AQuantisedModelOnTheProcessorBeatsFullPrecisionOnTheCard) {
  PlanInput input = card_and_cpu();
  input.measurements = {
      took(kEncoder, "cpu", DType::I8, 21, 400), took(kDecoder, "cpu", DType::I8, 10, 400),
      took(kEncoder, "cuda:0", DType::F16, 34, 900), took(kDecoder, "cuda:0", DType::F16, 40, 900)};
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan), ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
  EXPECT_EQ(plan.stages[0].reason, "i8 on cpu (21 ms) beat f16 on cuda:0 (34 ms)");
  EXPECT_EQ(plan.stages[1].reason, "cpu is 4.0x cuda:0 (10 ms for a second of sound, 40 ms there)");
}

TEST(Plan, AutomaticStagesStayTogetherWhereOnlyThatWasProven) {
  PlanInput input = card_and_cpu();
  input.together = true;
  input.measurements = {
      took(kEncoder, "cpu", DType::I8, 30, 400), took(kDecoder, "cpu", DType::I8, 3, 300),
      took(kEncoder, "cuda:0", DType::F16, 2, 900), took(kDecoder, "cuda:0", DType::F16, 4, 700)};
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  EXPECT_EQ(plan.stages[1].reason,
            "cpu takes 3 ms as i8, but a model's stages stay on one device, as they were proven");
  // They move together too, and where one of them failed.
  input.max_vram = 1'000'000'000;
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
  input.max_vram = 0;
  input.measurements[2] = failed(kEncoder, "cuda:0", "its values differ by 3 %");
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
  // Who names devices may take them apart.
  input = card_and_cpu("stt.encoder=cuda:0,stt.decoder=cpu");
  input.together = true;
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  // Models are apart where that is fastest.
  input = card_and_cpu();
  input.together = true;
  input.stages = wishes({kDecoder, kAcoustic});
  input.measurements.push_back(took(kAcoustic, "cpu", {}, 1, 1));
  input.measurements.push_back(took(kAcoustic, "cuda:0", {}, 9, 1));
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.decoder on cuda:0 as f16", "tts.acoustic on cpu"));
  // Nothing is left where each can be computed by another device alone.
  input = card_and_cpu();
  input.together = true;
  input.excluded = {{kEncoder, "cpu", "failed"}, {kDecoder, "cuda:0", "failed"}};
  EXPECT_THAT(refusal(input), HasSubstr("no device can compute all stages of a model"));
}

TEST(Plan, OfStagesThatAreTogetherTheReasonHasTheSums) {
  PlanInput input = card_and_cpu();
  input.together = true;
  input.devices.push_back(memory("cuda:1", 4000));
  for (const auto& [device, encoder, decoder] :
       {std::tuple("cpu", 18.0, 36.0), {"cuda:0", 4943.0, 26729.0}, {"cuda:1", 961.0, 396.0}}) {
    const auto type = std::string_view(device) == "cpu" ? DType::I8 : DType::F16;
    input.measurements.push_back(took(kEncoder, device, type, encoder, 1));
    input.measurements.push_back(took(kDecoder, device, type, decoder, 1));
  }
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan), ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
  ASSERT_TRUE(plan.stages[0].together.has_value());
  EXPECT_EQ(plan.stages[0].together->why,
            "cpu is 25x cuda:1 (54 ms for a second of sound, 1357 ms there)");
  ASSERT_EQ(plan.stages[0].together->others.size(), 2U);
  EXPECT_EQ(plan.stages[0].together->others[0].why, "takes 31672 ms as f16");
  EXPECT_EQ(plan.stages[0].reason, "cpu is 53x cuda:1 (18 ms for a second of sound, 961 ms there)")
      << "each stage has its own";
  EXPECT_FALSE(plan.stages[1].together.has_value());
  // Where they are apart, or each was named, there is nothing to sum.
  input.request = request("stt.encoder=cuda:0,stt.decoder=cpu");
  EXPECT_FALSE(planned(input).stages[0].together.has_value());
  input.request = request("cpu");
  EXPECT_FALSE(planned(input).stages[0].together.has_value());
}

// What one has no room for is said of all of them.
TEST(Plan, OfStagesThatAreTogetherTheReasonHasAllTheirMemory) {
  PlanInput input = card_and_cpu();
  input.together = true;
  input.max_vram = 1'000'000'000;
  const Plan plan = planned(input);
  ASSERT_TRUE(plan.stages[0].together.has_value());
  EXPECT_THAT(plan.stages[0].together->why, AllOf(HasSubstr("cuda:0"), HasSubstr("1.6 GB")));
}

TEST(Plan, SaysWhyNoCardIsThere) {
  PlanInput input = card_and_cpu();
  input.devices = {memory("cpu", 8000)};
  input.unusable = {{.device = "cuda", .why = "cannot be used: there is no NVIDIA card"}};
  const Plan plan = planned(input);
  EXPECT_EQ(plan.stages[0].reason, "no other device can be used");
  EXPECT_EQ(why_not(plan.stages[0], "cuda"), "cannot be used: there is no NVIDIA card");
  // Who names a device asked for no other.
  input.request = request("cpu");
  EXPECT_THAT(planned(input).stages[0].others, IsEmpty());
}

TEST(Plan, WhatFailedOrWasNotProvenIsNotUsed) {
  PlanInput input = card_and_cpu();
  input.measurements[2] = failed(kEncoder, "cuda:0", "its values differ by 3 %");
  input.devices.push_back(memory("cuda:1", 4000));
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cuda:0 as f16"));
  EXPECT_EQ(plan.stages[0].reason, "no other device can be used");
  EXPECT_EQ(why_not(plan.stages[0], "cuda:0"), "failed its proof: its values differ by 3 %");
  EXPECT_EQ(why_not(plan.stages[0], "cuda:1"), "was not proven");
  // The last measurement counts.
  input.measurements.push_back(took(kEncoder, "cuda:0", {}, 2, 900));
  EXPECT_THAT(placed(planned(input))[0], HasSubstr("cuda:0"));
  // A time that is none is a failure.
  for (const double ms : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    input.measurements.back().ms_per_unit = ms;
    const Plan again = planned(input);
    EXPECT_EQ(again.stages[0].device, "cpu");
    EXPECT_THAT(why_not(again.stages[0], "cuda:0"), HasSubstr("time is no number"));
  }
}

TEST(Plan, OneTypeThatFailedLeavesTheOthers) {
  PlanInput input = card_and_cpu();
  input.measurements[2].passed = false;
  input.measurements.push_back(took(kEncoder, "cuda:0", DType::F32, 7, 900));
  EXPECT_EQ(placed(planned(input))[0], "stt.encoder on cuda:0 as f32");
}

TEST(Plan, WhatOnlyChecksOthersIsNeverChosen) {
  PlanInput input = card_and_cpu();
  input.devices.push_back(memory("simt:0", 8000));
  input.devices.push_back(memory("ref", 8000));
  for (const char* device : {"simt:0", "ref"}) {
    input.measurements.push_back(took(kEncoder, device, {}, 0.001, 1));
    input.measurements.push_back(took(kDecoder, device, {}, 0.001, 1));
  }
  const Plan plan = planned(input);
  EXPECT_EQ(placed(plan)[0], "stt.encoder on cuda:0 as f16");
  EXPECT_EQ(why_not(plan.stages[0], "ref"), "");
  input.request = request("simt:0");
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on simt:0", "stt.decoder on simt:0"));
}

TEST(Plan, WithoutMeasurementsItIsTheProcessor) {
  PlanInput input = card_and_cpu();
  input.measurements.clear();
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan), ElementsAre("stt.encoder on cpu", "stt.decoder on cpu"));
  EXPECT_EQ(plan.stages[0].ms_per_unit, std::nullopt);
  EXPECT_EQ(why_not(plan.stages[0], "cuda:0"), "was not proven");
  // A card that was proven goes before a processor of unknown speed.
  input.measurements = {took(kEncoder, "cuda:0", {}, 99, 1)};
  EXPECT_EQ(planned(input).stages[0].device, "cuda:0");
  EXPECT_EQ(why_not(planned(input).stages[0], "cpu"), "was not measured");
}

TEST(Plan, TheUsersStorageTypeIsTheOnlyOne) {
  PlanInput input = card_and_cpu();
  input.measurements.push_back(took(kEncoder, "cpu", DType::Q8_0, 40, 100));
  input.stages[0].storage = DType::Q8_0;
  const Plan plan = planned(input);
  EXPECT_EQ(placed(plan)[0], "stt.encoder on cpu as q8_0");
  EXPECT_EQ(why_not(plan.stages[0], "cuda:0"), "was not measured as q8_0");
  EXPECT_EQ(placed(plan)[1], "stt.decoder on cuda:0 as f16");
  input.request = request("cuda");
  EXPECT_THAT(refusal(input), HasSubstr("cuda:0 was not measured as q8_0"));
}

TEST(Plan, ANamedDeviceIsUsedHoweverSlow) {
  const Plan plan = planned(card_and_cpu("cpu"));
  EXPECT_THAT(placed(plan), ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
  EXPECT_EQ(plan.stages[0].reason, "asked for by name");
  EXPECT_EQ(why_not(plan.stages[0], "cuda:0"), "was not asked for");
  const Plan preferred = planned(card_and_cpu("cpu,cuda"));
  EXPECT_EQ(preferred.stages[0].device, "cpu");
  EXPECT_EQ(why_not(preferred.stages[0], "cuda:0"), "was named later");
  const Plan mixed = planned(card_and_cpu("stt.encoder=auto,stt.decoder=cpu"));
  EXPECT_THAT(placed(mixed),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
}

TEST(Plan, WhatAProfileDoesNotSayIsNotSaidToBeItsChoice) {
  PlanInput input = card_and_cpu("cpu");
  input.stages[0].profile = input.stages[1].profile = "evening";
  input.stages[1].storage = DType::I8;
  const Plan plan = planned(input);
  EXPECT_EQ(plan.stages[0].reason, "the profile evening says so");
  EXPECT_EQ(plan.stages[1].reason, "the profile evening says where, --storage as what (i8)");
}

TEST(Plan, ANamedDeviceThatIsNotThereIsRefused) {
  EXPECT_THAT(refusal(card_and_cpu("cuda:7")),
              AllOf(HasSubstr("stt cannot be computed where --device wants it: cuda:7 is not here"),
                    HasSubstr("--device cuda:7,cpu")));
  EXPECT_THAT(refusal(card_and_cpu("stt.encoder=cpu,stt.decoder=cuda:7")),
              HasSubstr("stt.decoder cannot be computed where --device wants it: cuda:7 is not"))
      << "the other can be";
}

TEST(Plan, FailuresLeadAutoToTheProcessorAndANameToARefusal) {
  PlanInput input = card_and_cpu();
  std::vector<std::vector<std::string>> steps;
  for (int i = 0; i < 3; ++i) {
    const Plan plan = planned(input);
    steps.push_back(placed(plan));
    for (const StagePlan& stage : plan.stages) {
      if (stage.device != "cpu") {
        input.excluded.push_back({stage.stage, stage.device, "failed just now: no answer"});
        break;
      }
    }
  }
  EXPECT_THAT(steps[0], ElementsAre(HasSubstr("cuda:0"), HasSubstr("cuda:0")));
  EXPECT_THAT(steps[1], ElementsAre(HasSubstr("cpu"), HasSubstr("cuda:0")));
  EXPECT_THAT(steps[2], ElementsAre(HasSubstr("cpu"), HasSubstr("cpu")));
  const Plan last = planned(input);
  EXPECT_EQ(why_not(last.stages[0], "cuda:0"), "failed just now: no answer");
  input.request = request("cuda,cpu");
  EXPECT_EQ(planned(input).stages[1].reason,
            "asked for after others: cuda:0 failed just now: no answer");
  input.request = request("cuda");
  EXPECT_THAT(refusal(input), HasSubstr("cuda:0 failed just now: no answer"));
  // Where the processor fails too nothing is left.
  input.request = request("auto");
  input.excluded.push_back({kEncoder, "cpu", "failed just now: not a number"});
  EXPECT_THAT(refusal(input), AllOf(HasSubstr("no device can compute stt.encoder: "),
                                    HasSubstr("cpu failed just now: not a number")));
}

// Both groups on a card, of which the acoustic stage gains least.
PlanInput all_on_card() {
  PlanInput input;
  input.stages = wishes({kEncoder, kDecoder, kAcoustic, kVocoder});
  input.devices = {memory("cpu", 8000), memory("cuda:0", 4000)};
  for (const auto& [stage, cpu, cuda] : {std::tuple(kEncoder, 30.0, 2.0),
                                         {kDecoder, 22.0, 4.0},
                                         {kAcoustic, 5.0, 3.0},
                                         {kVocoder, 40.0, 6.0}}) {
    input.measurements.push_back(took(stage, "cpu", DType::I8, cpu, 100));
    input.measurements.push_back(took(stage, "cuda:0", DType::F16, cuda, 500));
    input.measurements.back().window_bytes = 100'000'000;
    input.measurements.push_back(took(stage, "cuda:0", DType::Q8_0, cuda + 1, 300));
    input.measurements.back().window_bytes = 100'000'000;
  }
  input.batch = 8;
  return input;
}

std::vector<std::string> devices_of(const Plan& plan) {
  std::vector<std::string> devices;
  devices.reserve(plan.stages.size());
  for (const StagePlan& stage : plan.stages) {
    devices.push_back(stage.device + " " + std::string(name(stage.storage.value())));
  }
  return devices;
}

TEST(PlanLadder, BeginsWithASmallerBatch) {
  PlanInput input = all_on_card();
  EXPECT_EQ(planned(input).batch, 4);  // 4 times 500 + 3 windows of 100 are 3200, 8 are 4800
  input.devices[1] = memory("cuda:0", 4800);
  const Plan whole = planned(input);
  EXPECT_EQ(whole.batch, 8);
  EXPECT_THAT(whole.stages[0].reason, Not(HasSubstr("for want of memory")));
  EXPECT_EQ(whole.stages[0].bytes, 1'200'000'000U);
  input.devices[1] = memory("cuda:0", 2000);
  const Plan one = planned(input);
  EXPECT_EQ(one.batch, 1);
  EXPECT_THAT(devices_of(one), ElementsAre("cuda:0 f16", "cuda:0 f16", "cuda:0 f16", "cuda:0 f16"));
  EXPECT_THAT(one.stages[0].reason, HasSubstr("; 1 of 8 windows together, for want of memory"));
}

TEST(PlanLadder, SaysOfBothStagesThatFewerWindowsAreHeardThoughOneAloneKeepsThem) {
  PlanInput input = card_and_cpu();
  input.measurements[3].window_bytes = 500'000'000;  // of the decoder on the card
  input.batch = 8;
  const Plan plan = planned(input);
  EXPECT_EQ(plan.batch, 4);
  for (const StagePlan& stage : plan.stages) {
    EXPECT_THAT(stage.reason, HasSubstr("; 4 of 8 windows together, for want of memory"));
  }
}

TEST(PlanLadder, SaysThatALargerTypeHadNoRoomWhenItWasTried) {
  PlanInput input = card_and_cpu();
  for (const Stage stage : {kEncoder, kDecoder}) {
    input.too_large.push_back({.stage = stage, .device = "cuda:0"});
  }
  input.measurements[2].storage = input.measurements[3].storage = DType::I8;
  const Plan plan = planned(input);
  EXPECT_EQ(plan.stages[0].reason,
            "cuda:0 is 15x cpu (2 ms for a second of sound, 30 ms there); as i8, for want of "
            "memory");
  EXPECT_THAT(plan.stages[1].reason, EndsWith("; as i8, for want of memory"));
  // Who is elsewhere is not told.
  input.request = request("cpu");
  EXPECT_THAT(planned(input).stages[0].reason, Not(HasSubstr("for want of memory")));
}

TEST(PlanLadder, WantsSmallerTypesWhereTheFastestDoesNotFitOneWindow) {
  PlanInput input = card_and_cpu();
  input.measurements[3].window_bytes = 2'000'000'000;
  input.batch = 8;
  EXPECT_EQ(planned(input).batch, 2);
  EXPECT_FALSE(wants_smaller_types(input)) << "a smaller batch comes first";
  input.max_vram = 1'000'000'000;
  EXPECT_TRUE(wants_smaller_types(input));
  EXPECT_EQ(std::ranges::count(placed(planned(input)), "stt.encoder on cpu as i8") +
                std::ranges::count(placed(planned(input)), "stt.decoder on cpu as i8"),
            1);
  input.request = request("cuda");
  EXPECT_TRUE(wants_smaller_types(input)) << "what would be refused too";
  input.request = request("cpu");
  EXPECT_FALSE(wants_smaller_types(input));
}

TEST(PlanLadder, GoesOnWithSmallerTypesThatLoseLeast) {
  PlanInput input = all_on_card();
  input.devices[1] = memory("cuda:0", 1800);
  const Plan plan = planned(input);
  // Each loses the same millisecond: the first found is one of them alone.
  EXPECT_EQ(std::ranges::count(devices_of(plan), "cuda:0 q8_0"), 1);
  EXPECT_EQ(std::ranges::count(devices_of(plan), "cuda:0 f16"), 3);
  EXPECT_EQ(plan.batch, 1);
  for (const StagePlan& stage : plan.stages) {
    EXPECT_EQ(stage.reason.contains("; as q8_0, for want of memory"), stage.storage == DType::Q8_0);
    EXPECT_THAT(stage.reason, HasSubstr("; 1 of 8 windows together, for want of memory"));
  }
  input.devices[1] = memory("cuda:0", 1200);
  EXPECT_EQ(std::ranges::count(devices_of(planned(input)), "cuda:0 q8_0"), 4);
}

TEST(PlanLadder, EndsWithTheStageThatLosesLeastOnTheProcessor) {
  PlanInput input = all_on_card();
  input.devices[1] = memory("cuda:0", 1100);
  const Plan plan = planned(input);
  EXPECT_THAT(devices_of(plan), ElementsAre("cuda:0 f16", "cuda:0 q8_0", "cpu i8", "cuda:0 q8_0"));
  EXPECT_EQ(plan.stages[2].reason,
            "cuda:0 has 0 B to spare beside stt.encoder and stt.decoder and tts.vocoder, 500.0 MB "
            "are needed");
  // Nothing is left on a card that has no memory.
  input.devices[1] = memory("cuda:0", 100);
  EXPECT_THAT(devices_of(planned(input)), ElementsAre("cpu i8", "cpu i8", "cpu i8", "cpu i8"));
}

TEST(PlanLadder, TakesNoSmallerTypeThatIsSlowerThanTheProcessor) {
  PlanInput input = card_and_cpu();
  input.measurements.push_back(took(kEncoder, "cuda:0", DType::Q4_0, 29, 100));
  input.measurements.push_back(took(kDecoder, "cuda:0", DType::Q4_0, 50, 100));
  input.devices[1] = memory("cuda:0", 300);
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as q4_0", "stt.decoder on cpu as i8"));
  // But where it was named it is what was asked for.
  input.request = request("cuda,cpu");
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cuda:0 as q4_0", "stt.decoder on cuda:0 as q4_0"));
}

TEST(PlanLadder, TheBatchIsLargeAgainWhereStagesMoved) {
  PlanInput input = card_and_cpu();
  input.batch = 16;
  input.measurements[3].window_bytes = 1'000'000;
  input.devices[1] = memory("cuda:0", 1000);
  const Plan plan = planned(input);
  // The encoder gains most, and has room for all.
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  EXPECT_EQ(plan.batch, 16);
  EXPECT_THAT(plan.stages[0].reason, Not(HasSubstr("windows together")));
}

TEST(PlanLadder, AnotherCardThatIsAsFastGoesBeforeASmallerBatch) {
  PlanInput input = all_on_card();
  input.devices.push_back(memory("cuda:1", 4000));
  for (size_t i = 0, count = input.measurements.size(); i < count; ++i) {
    if (input.measurements[i].device == "cuda:0") {
      input.measurements.push_back(input.measurements[i]);
      input.measurements.back().device = "cuda:1";
    }
  }
  const Plan plan = planned(input);
  EXPECT_EQ(plan.batch, 8);
  for (const StagePlan& stage : plan.stages) {
    EXPECT_EQ(stage.storage, DType::F16) << stage.reason;
  }
}

TEST(PlanLadder, MaxVramIsALimitOfCardsAlone) {
  PlanInput input = card_and_cpu();
  input.max_vram = 1'000'000'000;
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  EXPECT_EQ(why_not(plan.stages[1], "cuda:0"),
            "may give 100.0 MB (--max-vram) beside stt.encoder, 700.0 MB are needed");
  input.max_vram = 1;
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cpu as i8", "stt.decoder on cpu as i8"));
}

TEST(PlanLadder, HeadroomStaysFree) {
  PlanInput input = card_and_cpu();
  input.devices[1].headroom_bytes = 2'400'000'000;
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cuda:0 as f16"));
  input.devices[1].headroom_bytes += 1;
  EXPECT_THAT(placed(planned(input)),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  input.devices[1].headroom_bytes = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(planned(input).stages[0].device, "cpu");
}

// Which has no windows and no types to choose among.
TEST(PlanLadder, ADetectorThatHasNoRoomIsRefusedInWordsOfItsOwn) {
  PlanInput input = card_and_cpu("cuda");
  input.stages = wishes({kVadStage});
  input.measurements = {took(kVadStage, "cuda:0", {}, 1, 5000)};
  EXPECT_THAT(refusal(input), HasSubstr("there is no room for vad: cuda:0 has 4.0 GB to spare"));
}

TEST(PlanLadder, ANamedDeviceThatHasNoRoomIsRefused) {
  PlanInput input = card_and_cpu("cuda");
  input.devices[1] = memory("cuda:0", 1500);
  EXPECT_THAT(refusal(input), AllOf(HasSubstr("there is no room for stt.encoder, stt.decoder"),
                                    HasSubstr("cuda:0 has 1.5 GB to spare, 1.6 GB are needed")));
  // A list gives up what it must, and no more.
  input.request = request("cuda,cpu");
  const Plan plan = planned(input);
  EXPECT_THAT(placed(plan),
              ElementsAre("stt.encoder on cuda:0 as f16", "stt.decoder on cpu as i8"));
  EXPECT_EQ(plan.stages[1].reason,
            "asked for after others: cuda:0 has 600.0 MB to spare beside stt.encoder, 700.0 MB are "
            "needed");
}

}  // namespace
}  // namespace mynah::place
