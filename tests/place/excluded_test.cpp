// Devices that are out of the question: what planning makes of one that failed, or is full.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "place/kinds/kinds.h"
#include "place/placed_whisper.h"
#include "place/placer.h"

namespace mynah::place {
namespace {

using ::testing::HasSubstr;

std::optional<Distrust> distrust_of(PlacementState& state, const std::string& device) {
  return state.context().prover().store().distrust(state.context().identity(device));
}

// Whether it comes true, within two minutes.
bool comes(const std::function<bool()>& what) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!what() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return what();
}

class Excluded : public test::PlacedWhisper {
 protected:
  Excluded() { be(""); }

  // How workers are from now on (tests/place/worker.cpp).
  static void be(const char* manner) { ::setenv("MYNAH_WORKER_MANNER", manner, 1); }

  [[nodiscard]] PlacerOptions placer(const std::string& devices) const {
    PlacerOptions options = PlacedWhisper::placer(devices);
    options.times.seconds = [this] { return now_.load(); };
    return options;
  }

  // simt:0 fails, `meanwhile` something happens and a minute passes: then it is gone back to.
  void expect_goes_back(const PlacerOptions& options,
                        const std::function<void(PlacementState&)>& meanwhile) {
    PlacementState state(options);
    const ModelId stt = state.context().expect(file_);
    const auto first = state.planner().plan(stt);
    ASSERT_TRUE(first) << first.error().message;
    state.trust().distrust(*first, {ErrorCode::Device, "simt:0 crashed"});
    const auto second = state.planner().plan(stt);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(devices_of(*second), "cpu");
    meanwhile(state);
    now_ += 60;
    state.opened(stt, *second);
    EXPECT_TRUE(comes([&] { return state.trust().regained() == 1; }));
    const auto third = state.planner().plan(stt);
    ASSERT_TRUE(third) << third.error().message;
    EXPECT_EQ(devices_of(*third), "simt:0");
  }

  std::atomic<int64_t> now_{1'700'000'000};
};

TEST_F(Excluded, ADeviceThatFailedIsOutOfTheQuestion) {
  PlacementState state(placer("simt:0,cpu"));
  const ModelId stt = state.context().expect(file_);
  const auto first = state.planner().plan(stt);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(devices_of(*first), "simt:0");
  state.trust().distrust(*first, {ErrorCode::Device, "simt:0 crashed in stt.decoder"});
  const auto second = state.planner().plan(stt);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(devices_of(*second), "cpu");
  const auto choice = state.planner().choice(stt, kSttEncoder);
  ASSERT_TRUE(choice);
  const auto& others = choice->plan.others;
  const auto other = std::ranges::find(others, "simt:0", &OtherDevice::device);
  ASSERT_NE(other, others.end());
  EXPECT_THAT(other->why, HasSubstr("failed: it crashed in stt.decoder"));
  const auto distrust = distrust_of(state, "simt:0");
  ASSERT_TRUE(distrust);
  EXPECT_EQ(distrust->reason, "it crashed in stt.decoder");
}

TEST_F(Excluded, ADeviceThatIsNamedAloneIsRefusedWithItsFailure) {
  PlacementState state(placer("simt:0"));
  const ModelId stt = state.context().expect(file_);
  const auto first = state.planner().plan(stt);
  ASSERT_TRUE(first);
  state.trust().distrust(*first, {ErrorCode::Device, "simt:0 hung in stt.encoder"});
  const auto second = state.planner().plan(stt);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Device);
  EXPECT_THAT(second.error().message, HasSubstr("hung in stt.encoder"));
}

TEST_F(Excluded, ADeviceThatIsFullIsNotDistrusted) {
  PlacementState state(placer("simt:0"));
  const ModelId stt = state.context().expect(file_);
  const auto first = state.planner().plan(stt);
  ASSERT_TRUE(first);
  EXPECT_FALSE(state.trust().no_room(stt));
  state.had_no_room(stt, *first, {ErrorCode::OutOfMemory, "the card is full"});
  const auto told = state.trust().no_room(stt);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->device, "simt:0");
  const auto smaller = state.planner().plan(stt);
  ASSERT_TRUE(smaller) << smaller.error().message;
  for (const auto& [stage, where] : *smaller) {
    EXPECT_EQ(where, (StageDevice{.device = "simt:0", .storage = DType::I8}));
  }
  state.had_no_room(stt, *smaller, {ErrorCode::OutOfMemory, "the card is full"});
  const auto none = state.planner().plan(stt);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::OutOfMemory);
  EXPECT_THAT(none.error().message, HasSubstr("has too little memory for stt: the card is full"));
  EXPECT_FALSE(distrust_of(state, "simt:0"));
}

TEST_F(Excluded, ADeviceIsGoneBackToWhoeverProvedItMeanwhile) {
  expect_goes_back(placer("simt:0,cpu"), [](PlacementState& state) {
    const ProofStore& store = state.context().prover().store();
    const DeviceIdentity device = state.context().identity("simt:0");
    store.trusted(device, store.last_failure(device));
    EXPECT_FALSE(store.distrust(device));
  });
}

TEST_F(Excluded, ADeviceIsGoneBackToThoughNothingCanBeKept) {
  PlacerOptions options = placer("simt:0,cpu");
  options.cache_folder = file_.path + "/cache";  // below a file
  expect_goes_back(options,
                   [](PlacementState& state) { EXPECT_FALSE(distrust_of(state, "simt:0")); });
}

TEST_F(Excluded, ADeviceIsGoneBackToThoughTheClockWentBack) {
  expect_goes_back(placer("simt:0,cpu"), [this](PlacementState& /*state*/) { now_ -= 100'000; });
}

TEST_F(Excluded, ADeviceOfALaterStageIsProvenBeforeItIsGoneBackTo) {
  PlacementState state(placer("stt.encoder=cpu,stt.decoder=simt:0,cpu"));
  const ModelId stt = state.context().expect(file_);
  const auto first = state.planner().plan(stt);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_EQ(devices_of(*first), "cpu,simt:0");
  state.trust().distrust(*first, {ErrorCode::Device, "simt:0 crashed"});
  const auto second = state.planner().plan(stt);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(devices_of(*second), "cpu");
  be("crashes");
  now_ += 60;
  state.opened(stt, *second);
  EXPECT_TRUE(comes([&] { return distrust_of(state, "simt:0")->failures == 2; }));
  EXPECT_EQ(state.trust().regained(), 0U);
  be("");
  now_ += 15;  // of a pause of 20 s
  {
    // Who names it for that stage does not wait for the pause.
    PlacementState other(placer("stt.encoder=cpu,stt.decoder=simt:0"));
    const ModelId same = other.context().expect(file_);
    const auto named = other.planner().plan(same);
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(devices_of(*named), "cpu,simt:0");
  }
  now_ += 60;
  EXPECT_TRUE(comes([&] { return state.trust().regained() == 1; }));
}

TEST_F(Excluded, ADeviceThatWasFullIsGoneBackToWhenItHasRoom) {
  PlacerOptions options = placer("simt:0,cpu");
  options.storage = DType::F32;  // none that is smaller stands in for it
  PlacementState state(options);
  const ModelId stt = state.context().expect(file_);
  const auto first = state.planner().plan(stt);
  ASSERT_TRUE(first);
  state.had_no_room(stt, *first, {ErrorCode::OutOfMemory, "the card is full"});
  const auto second = state.planner().plan(stt);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(devices_of(*second), "cpu");
  state.opened(stt, *second);
  now_ += 60;
  EXPECT_TRUE(comes([&] { return state.trust().regained() == 1; }));
  EXPECT_FALSE(state.trust().no_room(stt));
  const auto third = state.planner().plan(stt);
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(devices_of(*third), "simt:0");
}

TEST_F(Excluded, WhatTheDoctorKnowsOfACardCountsUntilItIsProven) {
  // Its name tells what the driver does not: that it is too old.
  const gpu::fake::LoadedFake driver(
      13000, {.cards = {{.name = "Quadro K2200", .compute_major = 0, .compute_minor = 0}}});
  PlacerOptions options = placer("cuda:0,cpu");
  options.discovery.gpus.driver = driver.search();
  {
    PlacementState state(options);
    const ModelId stt = state.context().expect(file_);
    const auto planned = state.planner().plan(stt);
    ASSERT_TRUE(planned) << planned.error().message;
    EXPECT_EQ(devices_of(*planned), "cpu");
    const auto choice = state.planner().choice(stt, kSttEncoder);
    ASSERT_TRUE(choice);
    const auto& others = choice->plan.others;
    const auto card = std::ranges::find(others, "cuda:0", &OtherDevice::device);
    ASSERT_NE(card, others.end());
    EXPECT_THAT(card->why,
                HasSubstr("cannot be used: mynah: it has neither machine code for sm_50"));
    EXPECT_FALSE(distrust_of(state, "cuda:0")) << "it was not tried";
  }
  PlacementState state(options);
  const ModelId stt = state.context().expect(file_);
  test::keep_proof(state, file_, {.device = "cuda:0", .storage = DType::F16});
  const auto planned = state.planner().plan(stt);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(devices_of(*planned), "cuda:0");
}

// What the report says of the two stages of a Whisper on that device.
void expect_told(const Placer& placer, const std::string& device) {
  const PlacementReport report = placer.report();
  ASSERT_EQ(report.stages.size(), 2U);
  for (const StagePlacement& stage : report.stages) {
    EXPECT_EQ(stage.device, device);
    EXPECT_NE(stage.architecture, "");
    EXPECT_GT(stage.operations, 0U);
  }
  EXPECT_EQ(placer.device({.group = kSttGroup}), device);
}

TEST_F(Excluded, WhatEndedOrWasLetGoIsToldOfAllTheSame) {
  for (const std::string device : {"simt:0", "cpu"}) {
    Placer placed(placer(device));
    const auto windows = placed.windows(file_);
    ASSERT_TRUE(windows) << windows.error().message;
    expect_told(placed, device);
    PlacementState& state = placed.state();
    const ModelId stt{.group = kSttGroup};
    if (device != "cpu") {
      state.openings().worker_for(stt, state.openings().places(stt)).value()->end("was killed");
      expect_told(placed, device);
    }
    state.openings().left(stt);
    expect_told(placed, device);
  }
}

}  // namespace
}  // namespace mynah::place
