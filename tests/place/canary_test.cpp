// When a device is probed again while it works, on a machine whose clock and sleep are made up.
#include "place/proofs/canary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class Canaries : public ::testing::Test {
 protected:
  void vouch(const std::string& what) { canary_.vouch(what, probe_); }

  static Reference reference() {
    Reference right;
    right.exact = probe_of(0.5F);
    right.error_bound = {0.001};
    return right;
  }

  static Probe probe_of(float probability) {
    return {.stages = {{.stage = "vad", .values = std::vector<float>(50, probability)}},
            .sound_s = 1.6};
  }

  std::chrono::steady_clock::time_point now_{};
  WakeState wake_{.boot_id = "first", .suspended_ms = 5000};
  int probes_ = 0;
  bool right_ = true;
  std::function<Result<Probe>()> probe_ = [this]() -> Result<Probe> {
    ++probes_;
    return probe_of(right_ ? 0.5F : 0.7F);
  };
  Canary canary_{kVadGroup,
                 "cuda:0",
                 reference(),
                 {.now = [this] { return now_; }, .wake = [this] { return wake_; }}};
};

TEST_F(Canaries, IsAskedBeforeTheFirstPieceAndThenEverySoOften) {
  vouch("1");
  EXPECT_EQ(probes_, 1);
  now_ += milliseconds(2900);
  vouch("2");
  EXPECT_EQ(probes_, 1);
  EXPECT_EQ(canary_.doubts(), "; what it gave since it was right may be wrong too: 2");
  EXPECT_EQ(canary_.doubted(), "2");
  now_ += milliseconds(200);
  vouch("3");
  EXPECT_EQ(probes_, 2);
  EXPECT_EQ(canary_.doubts(), "");
  EXPECT_EQ(canary_.doubted(), "");
  vouch("4");
  vouch("5");
  EXPECT_EQ(canary_.doubted(), "4 to 5");
}

TEST_F(Canaries, IsAskedAgainOnceTheMachineSlept) {
  vouch("1");
  now_ += milliseconds(10);  // the steady clock stands still meanwhile
  wake_.suspended_ms += 3'600'000;
  vouch("2");
  EXPECT_EQ(probes_, 2);
  now_ += milliseconds(10);
  vouch("3");
  EXPECT_EQ(probes_, 2) << "it was found right since";
  wake_.suspended_ms += 1000;
  right_ = false;
  try {
    vouch("4");
    ADD_FAILURE() << "a card that came back broken is trusted";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.error().message, HasSubstr("cuda:0 computes wrongly: vad is 0.4 from"));
  }
}

TEST_F(Canaries, ASleepDuringAProbeCountsAsOneAfterIt) {
  const auto awake = probe_;
  probe_ = [&] {
    wake_.suspended_ms += 60'000;
    return awake();
  };
  vouch("1");
  probe_ = awake;
  vouch("2");
  EXPECT_EQ(probes_, 2);
  vouch("3");
  EXPECT_EQ(probes_, 2);
}

}  // namespace
}  // namespace mynah::place
