#include <gmock/gmock.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(TalkTest, ATurnIsHeardRepliedToAndSpoken) {
  begin();
  wait(0.5);
  say("hello");
  say("there");
  wait(4);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello there"));
  EXPECT_THAT(texts(Kind::Said), ElementsAre("All right."));
  EXPECT_THAT(record(), ElementsAre("user: hello there", "assistant: All right."));
  EXPECT_THAT(mouth_.spoken, ElementsAre("All right."));
  EXPECT_TRUE(conversation_->is_at_rest());
  EXPECT_EQ(played_.size(), static_cast<size_t>(now_) * kFakeRate_hz / kHearingRate_hz);
}

TEST_F(TalkTest, ThePreparedReplySoundsAtTheMomentTheTurnIsOver) {
  workers_.takes = {samples_of(0.1), 0, samples_of(0.15), samples_of(0.1)};
  begin();
  say("hello");
  wait(3);
  const auto replies = all(Kind::Replies);
  ASSERT_EQ(replies.size(), 1U);
  // Heard 0.1 s after the pause of 0.1 s, and the rest meanwhile: nothing is waited for but the
  // rule's silence, to a frame of the detector and two of the clock.
  EXPECT_NEAR(replies[0].times.heard_ms, 200, 50);
  EXPECT_NEAR(replies[0].times.sound_ms, 600, 50);
  EXPECT_FALSE(sounds(0, 1.05));
  EXPECT_TRUE(sounds(1.05, 1.2));
}

TEST_F(TalkTest, AReplyThatRepeatsItselfIsCutSoonerThanAWrittenOne) {
  std::string loop;
  for (int i = 0; i < 100; ++i) {
    loop += "unremarked-";
  }
  mind_.answers = {loop + "."};
  begin();
  say("hello");
  wait(20);
  ASSERT_EQ(all(Kind::Said).size(), 1U);
  EXPECT_LE(all(Kind::Said)[0].text.size(), 400U);
}

TEST_F(TalkTest, WhereSpeechGoesOnTheReplyIsToAllOfIt) {
  mind_.answers = {"Too early."};
  begin();
  say("hello");
  wait(0.4);
  say("there");
  wait(3);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello there"));
  EXPECT_THAT(texts(Kind::Said), ElementsAre("All right."));
  EXPECT_THAT(record(), ElementsAre("user: hello there", "assistant: All right."));
}

TEST_F(TalkTest, AReplyToTheSameWordsIsKept) {
  begin();
  say("hello");
  wait(0.3);
  capture(ear_.sample_of(""), 0.1);  // a breath
  wait(3);
  EXPECT_EQ(mind_.asked.size(), 1U);
  EXPECT_EQ(ear_.asked.size(), 2U);
  EXPECT_THAT(texts(Kind::Said), ElementsAre("All right."));
}

TEST_F(TalkTest, NoWordsNoReply) {
  begin();
  capture(ear_.sample_of(""), 0.5);
  wait(2);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre(""));
  EXPECT_THAT(mind_.asked, IsEmpty());
  EXPECT_THAT(record(), IsEmpty());
  EXPECT_TRUE(conversation_->is_at_rest());
}

TEST_F(TalkTest, AKnockIsNoTurn) {
  begin();
  say("hello", 0.04);
  wait(2);
  EXPECT_THAT(texts(Kind::Heard), IsEmpty());
  EXPECT_THAT(mind_.asked, IsEmpty());
}

TEST_F(TalkTest, TheFirstSoundOfATurnIsHeardWithWhatCameBeforeIt) {
  begin();
  wait(2);
  say("hello");
  wait(2);
  ASSERT_EQ(ear_.asked.size(), 1U);
  // Pre-roll, the word, the pause; the detector's frames are 32 ms.
  EXPECT_NEAR(seconds_of(ear_.asked[0]), 0.35 + 0.5 + 0.1, 0.06);
}

TEST_F(TalkTest, OnlyTheAnswerIsSpokenAndWithoutItsMarks) {
  mind_.answer = "**Yes**, of course it is. See [this](http://a.b/c).";
  begin();
  say("hello");
  wait(8);
  EXPECT_THAT(mouth_.spoken, ElementsAre("Yes, of course it is.", "See this."));
  EXPECT_TRUE(mouth_.wishes[0].first);
  EXPECT_FALSE(mouth_.wishes[1].first);
  EXPECT_EQ(mouth_.wishes[0].language, "en");
  EXPECT_THAT(record(), ElementsAre("user: hello", "assistant: " + mind_.answer));
}

TEST_F(TalkTest, TheModelIsToldTheSameBeginningEachTurn) {
  begin({.system = "You are a pirate."});
  say("hello");
  wait(3);
  say("what");
  say("time");
  wait(3);
  ASSERT_EQ(mind_.asked.size(), 2U);
  for (size_t i = 0; i < mind_.asked[0].size(); ++i) {
    EXPECT_EQ(mind_.asked[0][i], mind_.asked[1][i]);
  }
  EXPECT_TRUE(mind_.asked[0][0]["content"].get<std::string>().ends_with("\n\nYou are a pirate."));
}

TEST_F(TalkTest, WhatAnEarThatFailsDidNotHearIsHeardWithTheNextWords) {
  ear_.failures = 1;
  begin();
  say("hello");
  wait(2);
  ASSERT_EQ(all(Kind::Fault).size(), 1U);
  EXPECT_EQ(all(Kind::Fault)[0].fault->organ, Organ::Ear);
  EXPECT_THAT(texts(Kind::Heard), IsEmpty());
  say("there");
  wait(2);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello there"));
}

TEST_F(TalkTest, WhatAMindWroteBeforeItFailedIsSpokenAndTheConversationGoesOn) {
  mind_.answer = "I think so. But then I thought again.";
  mind_.fails_at = 16;
  begin();
  say("hello");
  wait(4);
  ASSERT_EQ(all(Kind::Fault).size(), 1U);
  EXPECT_EQ(all(Kind::Fault)[0].fault->organ, Organ::Mind);
  EXPECT_THAT(mouth_.spoken, ElementsAre("I think so.", "But"));
  mind_.fails_at.reset();
  mind_.answer = "Yes.";
  say("what");
  wait(3);
  EXPECT_THAT(record(), ElementsAre("user: hello", "assistant: I think so. But ", "user: what",
                                    "assistant: Yes."));
}

TEST_F(TalkTest, WhatAMouthCannotSayWasNotSaid) {
  mouth_.fails = true;
  begin();
  say("hello");
  wait(3);
  ASSERT_EQ(all(Kind::Fault).size(), 1U);
  EXPECT_EQ(all(Kind::Fault)[0].fault->organ, Organ::Mouth);
  EXPECT_THAT(record(), ElementsAre("user: hello"));
  mouth_.fails = false;
  say("what");
  wait(3);
  // One message of the user: templates want speakers to take turns.
  EXPECT_THAT(record(), ElementsAre("user: hello\nwhat", "assistant: All right."));
}

TEST_F(TalkTest, AnEndlessTurnIsCutAndNothingOfItIsLost) {
  begin({.longest_turn_s = 3});
  workers_.takes[0] = samples_of(0.2);
  for (int i = 0; i < 5; ++i) {
    say("hello", 0.5);
    say("there", 0.5);
  }
  wait(3);
  std::string heard;
  for (const std::string& text : texts(Kind::Heard)) {
    heard += text + " ";
  }
  EXPECT_EQ(texts(Kind::Heard).size(), 2U);
  // The word that is cut is heard in both.
  EXPECT_THAT(std::ranges::count(heard, ' '), ::testing::AnyOf(10, 11));
}

TEST_F(TalkTest, AReplyThatRepeatsItselfEnds) {
  mind_.answer.clear();
  for (int i = 0; i < 200; ++i) {
    mind_.answer += "I do not know what to say. ";
  }
  begin();
  say("hello");
  wait(60);
  EXPECT_LT(mouth_.spoken.size(), 60U);
  EXPECT_TRUE(conversation_->is_at_rest());
}

TEST_F(TalkTest, TheEndOfATurnMayBeToldByItsSound) {
  class SureRule final : public EndRule {
   public:
    [[nodiscard]] bool scores() const override { return true; }

    [[nodiscard]] Result<float> score(std::span<const float> samples,
                                      const std::stop_token& /*stop*/) override {
      return samples.size() > static_cast<size_t>(kHearingRate_hz) ? 0.9F : 0.2F;
    }

    [[nodiscard]] bool is_over(const TurnPause& pause) const override {
      return pause.silence_s >= (pause.score.value_or(0) > 0.5F ? 0.2 : 1.5);
    }
  };

  end_ = std::make_unique<SureRule>();
  begin();
  say("hello", 0.3);
  wait(0.5);
  say("there", 0.5);
  wait(3);
  ASSERT_THAT(texts(Kind::Heard), ElementsAre("hello there"));
  EXPECT_NEAR(all(Kind::Replies)[0].times.decided_ms, 230, 60);
}

}  // namespace
}  // namespace mynah::talk
