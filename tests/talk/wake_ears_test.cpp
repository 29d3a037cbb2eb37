// Ears that wait for a word: what they ask a recogniser, and what they make of its answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_talk.h"
#include "speech/saying_model.h"
#include "talk/loop/wake_ear.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PhraseEarTest : public ::testing::Test {
 protected:
  PhraseEarTest() {
    auto check = WakeCheck::create(std::make_shared<mynah::test::SayingModel>(said_));
    EXPECT_TRUE(check) << check.error().message;
    auto phrase = WakePhrase::create("hey mynah");
    EXPECT_TRUE(phrase) << phrase.error().message;
    says("");
    ear_ = phrase_wake_ear(*phrase, "en", std::make_shared<LoudVoice>(), *check, workers_);
  }

  ~PhraseEarTest() override { workers_.finish(); }

  void says(const std::string& text) {
    said_->says = [this, text](const WindowTask& task) {
      if (!task.prompts.empty()) {
        lengths_.push_back(task.duration_s());
      }
      return Result<std::string>(text);
    };
  }

  void hear(float sample, double seconds) {
    const std::vector<float> frame(kFrame, sample);
    for (auto left = samples_of(seconds); left > 0; left -= kFrame) {
      now_ += kFrame;
      workers_.go_to(now_);
      auto hit = ear_->hear(frame);
      if (!hit) {
        errors_.push_back(hit.error().message);
      } else if (*hit) {
        hits_.push_back(**hit);
      }
    }
  }

  std::shared_ptr<mynah::test::Said> said_ = std::make_shared<mynah::test::Said>();
  std::vector<double> lengths_;
  ClockWorkers workers_;
  std::unique_ptr<WakeEar> ear_;
  int64_t now_ = 0;
  std::vector<WakeHit> hits_;
  std::vector<std::string> errors_;
};

TEST_F(PhraseEarTest, TheRecogniserSleepsWhereNobodySpeaks) {
  hear(0, 5);
  EXPECT_THAT(lengths_, IsEmpty());
  EXPECT_FALSE(ear_->is_working());
}

TEST_F(PhraseEarTest, APhraseThatASentenceBeginsWithIsHeard) {
  says(" Hey, Mina, what time is it?");
  hear(0, 1);
  hear(0.5F, 0.8);
  hear(0, 0.3);
  ASSERT_THAT(hits_, SizeIs(1));
  EXPECT_EQ(hits_[0].word, "hey mynah");
  // From 0.35 s before the voice on, and a word a second.
  EXPECT_NEAR(seconds_of(hits_[0].end), 1 - 0.35 + 2, 0.05);
  EXPECT_THAT(said_->prompts, ElementsAre(ElementsAre("hey mynah."), IsEmpty()));
}

TEST_F(PhraseEarTest, AVoiceThatGoesOnIsHeardOnceItIsAsLongAsAPhrase) {
  says(" Hey, Mina, what time is it?");
  hear(0, 1);
  hear(0.5F, 1.5);
  EXPECT_THAT(lengths_, IsEmpty());
  hear(0.5F, 0.5);
  EXPECT_THAT(lengths_, SizeIs(1));
  EXPECT_THAT(hits_, SizeIs(1));
  hear(0.5F, 10);
  EXPECT_THAT(lengths_, SizeIs(1));  // no more of what goes on is heard
}

TEST_F(PhraseEarTest, OtherSentencesAreNotThePhraseNorIsItsMiddle) {
  says(" I told her, hey Mina.");
  for (int i = 0; i < 3; ++i) {
    hear(0.5F, 0.8);
    hear(0, 0.7);
  }
  EXPECT_THAT(lengths_, SizeIs(3));
  EXPECT_THAT(hits_, IsEmpty());
}

TEST_F(PhraseEarTest, WhatIsUnderWayIsForgottenWhenItBeginsAnew) {
  says(" Hey Mina.");
  workers_.takes.fill(samples_of(0.5));
  hear(0.5F, 0.8);
  hear(0, 0.3);
  EXPECT_TRUE(ear_->is_working());
  ear_->reset();
  hear(0, 2);
  EXPECT_THAT(hits_, IsEmpty());
  EXPECT_FALSE(ear_->is_working());
}

TEST_F(PhraseEarTest, ADeviceThatFailsIsTold) {
  said_->says = [](const WindowTask& /*task*/) -> Result<std::string> {
    return fail(ErrorCode::Device, "it is deaf");
  };
  hear(0.5F, 0.8);
  hear(0, 0.3);
  EXPECT_THAT(errors_, ElementsAre("it is deaf"));
}

}  // namespace
}  // namespace mynah::talk
