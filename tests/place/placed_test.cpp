// Models where they are placed, on a device that computes wrongly.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/made_up_placer.h"
#include "place/placer.h"
#include "speech/probe.h"
#include "test_paths.h"

namespace mynah::place {
namespace {

using ::testing::HasSubstr;

// A detector on the simulated card, which is proven before it begins to compute wrongly.
class PlacedDetector : public ::testing::Test {
 protected:
  void SetUp() override {
    MYNAH_SKIP_WITHOUT(file_.path);
    ::setenv("MYNAH_WORKER_MANNER", "", 1);
    PlacementState state(test::placer_options(machine_, "simt:0,cpu"));
    const auto proven = state.planner().plan(state.context().expect(file_));
    ASSERT_TRUE(proven) << proven.error().message;
    ASSERT_EQ(devices_of(*proven), "simt:0");
    ::setenv("MYNAH_WORKER_MANNER", "probes wrongly", 1);
  }

  mynah::test::MadeUpMachine machine_;
  DetectorFile file_{.path = mynah::test::weights_path("silero/silero_vad_16k.safetensors"),
                     .rate_hz = 16000};
  std::vector<float> sound_ = probe_sound(8000);
};

TEST_F(PlacedDetector, WholeRecordingsAreVouchedForBeforeTheyAreGivenOut) {
  Placer placer(test::placer_options(machine_, "simt:0,cpu"));
  const auto detector = placer.detector(file_);
  ASSERT_TRUE(detector) << detector.error().message;
  EXPECT_EQ(placer.device({.group = kVadGroup}), "simt:0");
  const std::array<std::span<const float>, 2> recordings = {sound_, sound_};
  const auto found = (*detector)->probabilities(recordings);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->size(), 2U);
  EXPECT_EQ(placer.device({.group = kVadGroup}), "cpu");
  ASSERT_EQ(placer.state().openings().moves().size(), 1U);
  EXPECT_THAT(placer.state().openings().moves()[0].reason,
              HasSubstr("simt:0 computes wrongly: vad is "));
}

TEST_F(PlacedDetector, WholeRecordingsThatNobodyVouchesForAreRefused) {
  Placer placer(test::placer_options(machine_, "simt:0"));
  const auto detector = placer.detector(file_);
  ASSERT_TRUE(detector) << detector.error().message;
  const std::array<std::span<const float>, 1> recordings = {sound_};
  const auto found = (*detector)->probabilities(recordings);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("computes wrongly: vad is "));
}

TEST_F(PlacedDetector, RecordingsThatMayBeWrongAreNamed) {
  ::setenv("MYNAH_WORKER_MANNER", "", 1);
  Placer placer(test::placer_options(machine_, "simt:0,cpu"));
  const auto detector = placer.detector(file_);
  ASSERT_TRUE(detector) << detector.error().message;
  const std::array<std::span<const float>, 1> one = {sound_};
  const std::array<std::span<const float>, 2> two = {sound_, sound_};
  placer.name_work({.group = kVadGroup}, {"a.wav"});
  ASSERT_TRUE((*detector)->probabilities(one)) << "the device was looked at before it is given out";
  placer.name_work({.group = kVadGroup}, {"b.wav", "c.wav"});
  ASSERT_TRUE((*detector)->probabilities(two));
  placer.name_work({.group = kVadGroup}, {"d.wav"});
  const auto session = (*detector)->session();
  ASSERT_TRUE(session->push(sound_));
  PlacementState& state = placer.state();
  const ModelId vad{.group = kVadGroup};
  state.openings().worker_for(vad, state.openings().places(vad)).value()->end("was killed");
  ASSERT_TRUE((*detector)->probabilities(one)) << "on the processor";
  ASSERT_EQ(state.openings().moves().size(), 1U);
  EXPECT_THAT(state.openings().moves()[0].reason,
              HasSubstr("may be wrong too: b.wav to c.wav to speech from 0.0 to 0.5 s of d.wav"));
}

}  // namespace
}  // namespace mynah::place
