// Who is asleep hears nothing but a word, and then what follows it, by the conversation's clock.
#include "talk/loop/wake_gate.h"

#include <gmock/gmock.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kWord = -0.5F;

// The word is a run of samples of that value, known so long after its end.
class RunEar final : public WakeEar {
 public:
  explicit RunEar(int64_t late) : late_(late) {}

  Result<std::optional<WakeHit>> hear(std::span<const float> samples) override {
    if (std::exchange(fails, false)) {
      return fail(ErrorCode::Device, "the ear is deaf");
    }
    for (const float sample : samples) {
      ++heard_;
      if (sample == kWord) {
        end_ = heard_;
      }
    }
    if (end_ > 0 && heard_ - end_ >= late_) {
      return std::optional(WakeHit{.word = "okay", .end = std::exchange(end_, 0)});
    }
    return std::optional<WakeHit>();
  }

  [[nodiscard]] bool is_working() const override { return end_ > 0; }

  bool fails = false;

  void reset() override {
    heard_ = 0;
    end_ = 0;
  }

 private:
  int64_t late_;
  int64_t heard_ = 0;
  int64_t end_ = 0;  // of the run; 0: there was none
};

class WakeGateTest : public TalkTest {
 protected:
  void begin_asleep(double late_s = 0.2, double window_s = 4) {
    begin();
    auto ear = std::make_unique<RunEar>(samples_of(late_s));
    run_ear_ = ear.get();
    gate_ =
        std::make_unique<WakeGate>(*conversation_, std::move(ear),
                                   WakeSettings{.played_hz = kFakeRate_hz, .window_s = window_s});
  }

  void hear(float sample, double seconds) {
    const std::vector<float> frame(kFrame, sample);
    for (auto left = samples_of(seconds); left > 0; left -= kFrame) {
      now_ += kFrame;
      gate_->step(frame, played_);
      workers_.go_to(now_);
      for (TalkEvent& event : gate_->take_events()) {
        events_.push_back(std::move(event));
      }
    }
  }

  void hear_word(std::string_view word, double seconds = 0.5) {
    hear(ear_.sample_of(word), seconds);
  }

  RunEar* run_ear_ = nullptr;
  std::unique_ptr<WakeGate> gate_;
};

TEST_F(WakeGateTest, AsleepNothingIsHeard) {
  begin_asleep();
  hear_word("hello");
  hear(0, 6);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_THAT(ear_.asked, IsEmpty());
  EXPECT_FALSE(gate_->is_awake());
  EXPECT_EQ(std::ssize(played_), now_ * kFakeRate_hz / kHearingRate_hz);
}

TEST_F(WakeGateTest, WhatFollowsTheWordInTheSameBreathIsTheQuestion) {
  begin_asleep(0.4);
  hear_word("there", 1);  // somebody talks to somebody
  hear(kWord, 0.6);
  hear_word("what");
  hear_word("time");
  hear(0, 3);
  const auto woke = all(Kind::Woke);
  ASSERT_THAT(woke, SizeIs(1));
  EXPECT_EQ(woke[0].text, "okay");
  EXPECT_EQ(woke[0].at, samples_of(1.6));
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("what time"));
  EXPECT_THAT(record(), ElementsAre("user: what time", "assistant: All right."));
}

TEST_F(WakeGateTest, TheClockIsThatOfWhatIsCaptured) {
  begin_asleep(0.4);
  hear(0, 10);
  hear(kWord, 0.6);
  hear(0, 1);
  hear_word("hello");
  hear(0, 3);
  const auto voice = all(Kind::Voice);
  ASSERT_THAT(voice, SizeIs(1));
  EXPECT_NEAR(seconds_of(voice[0].at), 11.6, 0.05);
  EXPECT_EQ(std::ssize(played_), now_ * kFakeRate_hz / kHearingRate_hz);
  EXPECT_TRUE(sounds(12, now_s()));
  EXPECT_FALSE(sounds(0, 12));
}

TEST_F(WakeGateTest, FollowUpsNeedNoWordUntilItSleeps) {
  begin_asleep();
  hear(kWord, 0.6);
  hear_word("hello");
  hear(0, 3);
  hear_word("there");
  hear(0, 8);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello", "there"));
  const auto sleeps = all(Kind::Sleeps);
  ASSERT_THAT(sleeps, SizeIs(1));
  EXPECT_NEAR(seconds_of(sleeps[0].at - all(Kind::Said)[1].at), 4, 0.02);
  hear_word("wait");
  hear(0, 4);
  EXPECT_THAT(texts(Kind::Heard), SizeIs(2));
  hear(kWord, 0.6);
  hear_word("time");
  hear(0, 2);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello", "there", "time"));
  EXPECT_THAT(all(Kind::Woke), SizeIs(2));
  EXPECT_NEAR(static_cast<double>(std::ssize(played_)),
              static_cast<double>(now_) * kFakeRate_hz / kHearingRate_hz, 1);
}

TEST_F(WakeGateTest, NobodySaysAnythingAndItSleepsAgain) {
  begin_asleep();
  hear(kWord, 0.6);
  hear(0, 5);
  ASSERT_THAT(all(Kind::Sleeps), SizeIs(1));
  EXPECT_NEAR(seconds_of(all(Kind::Sleeps)[0].at), 0.6 + 0.2 + 4, 0.05);
}

TEST_F(WakeGateTest, StaysAwakeWhileItSpeaksAndMayBeInterrupted) {
  mind_.answer = "One two three four five six seven eight nine ten. " + std::string(900, 'a');
  begin_asleep(0.2, 1);
  hear(kWord, 0.6);
  hear_word("hello");
  hear(0, 5);
  EXPECT_THAT(all(Kind::Sleeps), IsEmpty());
  hear_word("stop");
  hear(0, 0.9);
  ASSERT_THAT(all(Kind::Said), SizeIs(1));
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
  hear(0, 3);
  EXPECT_THAT(all(Kind::Sleeps), SizeIs(1));
}

TEST_F(WakeGateTest, RestsOnceNoWordCanBeKnownAnyMore) {
  begin_asleep();
  hear(0.001F, 2);
  EXPECT_FALSE(gate_->is_at_rest());
  hear(0, 0.9);
  EXPECT_FALSE(gate_->is_at_rest());
  hear(0, 0.2);
  EXPECT_TRUE(gate_->is_at_rest());
  hear(kWord, 0.5);
  EXPECT_TRUE(gate_->is_working());
}

TEST_F(WakeGateTest, AnEarThatFailsIsToldOfAndHearsOn) {
  begin_asleep();
  run_ear_->fails = true;
  hear(0, 1);
  ASSERT_THAT(all(Kind::Fault), SizeIs(1));
  EXPECT_EQ(all(Kind::Fault)[0].fault->error.message, "the ear is deaf");
  hear(kWord, 0.6);
  hear(0, 1);
  EXPECT_THAT(all(Kind::Woke), SizeIs(1));
}

TEST_F(WakeGateTest, WithoutAnEarItIsNotThere) {
  begin();
  gate_ = std::make_unique<WakeGate>(*conversation_, nullptr, WakeSettings{});
  EXPECT_TRUE(gate_->is_awake());
  hear_word("hello");
  hear(0, 2);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello"));
  EXPECT_THAT(all(Kind::Sleeps), IsEmpty());
}

}  // namespace
}  // namespace mynah::talk
