#include "cli/files/pace.h"

#include <gtest/gtest.h>

namespace mynah::cli {
namespace {

TEST(Pace, WhatHasEndedIsARecording) {
  PaceWatch watch;
  EXPECT_EQ(watch.look(0.0, 0.0, false), std::nullopt);
  EXPECT_EQ(watch.look(0.1, 0.5, true), Pace::Recorded);
}

TEST(Pace, WhatIsAMinuteAheadIsARecording) {
  PaceWatch watch;
  EXPECT_EQ(watch.look(0.1, 59.0, false), std::nullopt);
  EXPECT_EQ(watch.look(0.2, 60.0, false), Pace::Recorded);
}

TEST(Pace, WhatComesAsItIsSpokenIsLiveAfterTwoLooks) {
  PaceWatch watch;
  EXPECT_EQ(watch.look(0.5, 0.5, false), std::nullopt);
  EXPECT_EQ(watch.look(1.0, 1.0, false), std::nullopt);
  EXPECT_EQ(watch.look(2.0, 2.0, false), Pace::Live);
}

TEST(Pace, ABroadcastThatBeginsWithHalfAMinuteIsLive) {
  PaceWatch watch;
  EXPECT_EQ(watch.look(1.0, 30.0, false), std::nullopt);
  EXPECT_EQ(watch.look(2.0, 31.0, false), std::nullopt);
  EXPECT_EQ(watch.look(3.0, 32.0, false), Pace::Live);
}

TEST(Pace, AMachineThatStoodStillIsNoSlowStream) {
  PaceWatch watch;
  EXPECT_EQ(watch.look(20.0, 0.5, false), std::nullopt);
  EXPECT_EQ(watch.look(21.0, 40.0, false), std::nullopt);
  EXPECT_EQ(watch.look(22.0, 45.0, false), std::nullopt);
  EXPECT_EQ(watch.look(22.5, 60.0, false), Pace::Recorded);
}

TEST(Pace, ADownloadAtTenTimesTheSpeedOfSpeechIsARecording) {
  PaceWatch watch;
  std::optional<Pace> pace;
  for (int second = 1; !pace; ++second) {
    pace = watch.look(second, 10.0 * second, false);
  }
  EXPECT_EQ(pace, Pace::Recorded);
}

}  // namespace
}  // namespace mynah::cli
