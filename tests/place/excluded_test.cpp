// Devices that are out of the question: what planning makes of one that failed, or is full.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/whisper_file.h"
#include "place/made_up_placer.h"

namespace mynah::place {
namespace {

using ::testing::HasSubstr;

std::optional<Distrust> distrust_of(PlacementState& state, const std::string& device) {
  return state.prover().store().distrust(state.identity(device));
}

// A small Whisper, and a machine without a card but the simulated one.
class Excluded : public ::testing::Test {
 protected:
  Excluded() {
    const whisper::Config config = mynah::test::tiny_config(false);
    file_.path = cli::write_whisper(machine_.root / "model.gguf", config,
                                    mynah::test::tiny_vocabulary(config));
    ::unsetenv("MYNAH_WORKER_MANNER");
  }

  [[nodiscard]] PlacerOptions placer(const std::string& devices) const {
    return test::placer_options(machine_, devices);
  }

  mynah::test::MadeUpMachine machine_;
  WindowsFile file_;
};

TEST_F(Excluded, ADeviceThatFailedIsOutOfTheQuestion) {
  PlacementState state(placer("simt:0,cpu"));
  state.expect(file_);
  const auto first = state.plan(StageGroup::Stt);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(devices_of(*first), "simt:0");
  state.distrust(*first, {ErrorCode::Device, "simt:0 crashed in stt.decoder"});
  const auto second = state.plan(StageGroup::Stt);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(devices_of(*second), "cpu");
  const auto choice = state.choice(Stage::SttEncoder);
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
  state.expect(file_);
  const auto first = state.plan(StageGroup::Stt);
  ASSERT_TRUE(first);
  state.distrust(*first, {ErrorCode::Device, "simt:0 hung in stt.encoder"});
  const auto second = state.plan(StageGroup::Stt);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Device);
  EXPECT_THAT(second.error().message, HasSubstr("hung in stt.encoder"));
}

TEST_F(Excluded, ADeviceThatIsFullIsNotDistrusted) {
  PlacementState state(placer("simt:0"));
  state.expect(file_);
  const auto first = state.plan(StageGroup::Stt);
  ASSERT_TRUE(first);
  EXPECT_FALSE(state.no_room(StageGroup::Stt));
  state.had_no_room(StageGroup::Stt, *first, {ErrorCode::OutOfMemory, "the card is full"});
  const auto told = state.no_room(StageGroup::Stt);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->device, "simt:0");
  const auto second = state.plan(StageGroup::Stt);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::OutOfMemory);
  EXPECT_THAT(second.error().message, HasSubstr("has too little memory for stt: the card is full"));
  EXPECT_FALSE(distrust_of(state, "simt:0"));
}

}  // namespace
}  // namespace mynah::place
