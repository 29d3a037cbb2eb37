#include "talk/turns/sounded_end.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace mynah::talk {
namespace {

class LoudIsEnded final : public TurnScorer {
 public:
  [[nodiscard]] Result<float> score(std::span<const float> turn) const override {
    return turn.back();
  }

  [[nodiscard]] int64_t window() const override { return 1; }
};

SoundedEnd medium_end() {
  EndOfTurnRule rule = end_of_turn_rule(Eagerness::Medium);
  return {std::make_shared<LoudIsEnded>(), rule};
}

TEST(SoundedEnd, TheScorerIsAskedUnlessNobodyWantsToKnow) {
  SoundedEnd end = medium_end();
  const std::vector<float> samples = {0.1F, 0.75F};
  const auto score = end.score(samples, {});
  ASSERT_TRUE(score);
  EXPECT_EQ(*score, 0.75F);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = end.score(samples, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

TEST(SoundedEnd, WhatSoundsEndedIsOverUnlessItsWordsAreNot) {
  const SoundedEnd end = medium_end();
  TurnPause pause{.silence_s = 0.3, .spoken_s = 1, .score = 0.9F};
  EXPECT_TRUE(end.is_over(pause));
  pause.clause = clause_state("Turn on the light.", "en");
  EXPECT_TRUE(end.is_over(pause));
  pause.clause = clause_state("Turn on the light and", "en");
  EXPECT_FALSE(end.is_over(pause));
  pause.clause = ClauseState::Unknown;
  pause.score = 0.1F;
  EXPECT_FALSE(end.is_over(pause));
}

TEST(SoundedEnd, AVoiceThatFellIsOverWhereOneThatDidNotGoesOn) {
  const SoundedEnd end = medium_end();
  TurnPause pause{.silence_s = 0.3, .spoken_s = 1, .score = 0.5F, .fall_db = 12};
  EXPECT_TRUE(end.is_over(pause));
  pause.fall_db = 2;
  EXPECT_FALSE(end.is_over(pause));
}

TEST(SoundedEnd, SilenceEndsWhatNeverSoundsEnded) {
  const SoundedEnd end = medium_end();
  const double longest_s = end_of_turn_rule(Eagerness::Medium).longest_silence_s;
  TurnPause pause{.silence_s = longest_s - 0.1, .spoken_s = 1, .score = 0.01F};
  EXPECT_FALSE(end.is_over(pause));
  pause.silence_s = longest_s;
  EXPECT_TRUE(end.is_over(pause));
}

}  // namespace
}  // namespace mynah::talk
