// When a turn is at its end: the rule, the clause, whose voice it is, and what listens.
#include "speech/end_of_turn.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "speech/hearing.h"

namespace mynah {
namespace {

constexpr int64_t kRate = kHearingRate_hz;
constexpr size_t kPiece = 512;

using Kind = VoiceEvent::Kind;

TEST(EndOfTurnRuleTest, TheLongerThePauseTheLowerAScoreEndsATurn) {
  for (const Eagerness eagerness : {Eagerness::Low, Eagerness::Medium, Eagerness::High}) {
    const EndOfTurnRule rule = end_of_turn_rule(eagerness);
    for (const ClauseState clause : {ClauseState::Unknown, ClauseState::Open, ClauseState::Whole}) {
      for (float score = 0.02F; score < 1; score += 0.02F) {
        bool ended = false;
        for (int tenths = 1; tenths < 40; ++tenths) {
          const TurnMoment moment{
              .length_s = 5, .silence_s = tenths / 10.0, .score = score, .clause = clause};
          const bool ends = rule.end_at(moment).has_value();
          EXPECT_TRUE(ends || !ended) << "a longer pause goes on: " << tenths;
          ended = ended || ends;
        }
        EXPECT_TRUE(ended) << "whatever the score, silence ends a turn";
      }
    }
  }
}

TEST(EndOfTurnRuleTest, WhoIsMoreEagerEndsNoLater) {
  const auto end_of = [](Eagerness eagerness, float score) {
    const EndOfTurnRule rule = end_of_turn_rule(eagerness);
    int tenths = 0;
    while (!rule.end_at({.length_s = 5, .silence_s = tenths / 10.0, .score = score})) {
      ++tenths;
    }
    return tenths;
  };
  for (float score = 0.01F; score < 1; score += 0.01F) {
    EXPECT_LE(end_of(Eagerness::High, score), end_of(Eagerness::Medium, score)) << score;
    EXPECT_LE(end_of(Eagerness::Medium, score), end_of(Eagerness::Low, score)) << score;
    EXPECT_EQ(end_of(Eagerness::Auto, score), end_of(Eagerness::Medium, score)) << score;
  }
}

TEST(EndOfTurnRuleTest, AnOpenClauseWaitsNoShorterThanAWholeOne) {
  const EndOfTurnRule rule = end_of_turn_rule(Eagerness::Auto);
  for (int tenths = 1; tenths < 30; ++tenths) {
    for (float score = 0.01F; score < 1; score += 0.01F) {
      TurnMoment moment{.length_s = 5, .silence_s = tenths / 10.0, .score = score};
      moment.clause = ClauseState::Open;
      const bool open = rule.end_at(moment).has_value();
      moment.clause = ClauseState::Unknown;
      const bool unknown = rule.end_at(moment).has_value();
      moment.clause = ClauseState::Whole;
      EXPECT_LE(open, unknown);
      EXPECT_LE(unknown, rule.end_at(moment).has_value());
    }
  }
}

TEST(EndOfTurnRuleTest, AVoiceThatHasFallenEndsNoLaterThanOneThatHasNot) {
  for (const Eagerness eagerness : {Eagerness::Low, Eagerness::Medium, Eagerness::High}) {
    const EndOfTurnRule rule = end_of_turn_rule(eagerness);
    int sooner = 0;
    for (float score = 0.01F; score < 1; score += 0.01F) {
      const auto ends = [&](std::optional<double> fall_db) {
        return rule.end_at({.length_s = 5, .silence_s = 0.3, .score = score, .fall_db = fall_db})
            .has_value();
      };
      EXPECT_LE(ends(2), ends(12)) << score;
      EXPECT_EQ(ends({}), ends(EndOfTurnRule::kUsualFall_db)) << score;
      sooner += static_cast<int>(ends(12) && !ends(2));
    }
    EXPECT_GT(sooner, 0);
  }
}

TEST(EndOfTurnRuleTest, NobodySpeaksForEver) {
  const EndOfTurnRule rule = end_of_turn_rule(Eagerness::Low);
  EXPECT_EQ(rule.end_at({.length_s = 29.9}), std::nullopt);
  EXPECT_EQ(rule.end_at({.length_s = 30}), TurnEnd::TooLong);
  EXPECT_EQ(rule.end_at({.length_s = 9, .faint_s = 2}), TurnEnd::AnotherVoice);
  EXPECT_EQ(rule.end_at({.length_s = 9, .wordless_s = 9}), TurnEnd::Wordless);
  EXPECT_EQ(rule.end_at({.length_s = 9, .silence_s = 3}), TurnEnd::Silence);
}

TEST(EndOfTurnRuleTest, EagernessHasOpenAisNames) {
  EXPECT_EQ(parse_eagerness("auto"), Eagerness::Auto);
  EXPECT_EQ(parse_eagerness("low"), Eagerness::Low);
  EXPECT_EQ(parse_eagerness("medium"), Eagerness::Medium);
  EXPECT_EQ(parse_eagerness("high"), Eagerness::High);
  EXPECT_EQ(parse_eagerness("High"), std::nullopt);
  EXPECT_EQ(parse_eagerness(""), std::nullopt);
}

TEST(OpenClauseTest, LastWordsAndMarksTell) {
  using enum ClauseState;
  for (const auto& [text, language, wanted] :
       {std::tuple{"", "en", Unknown},
        {"   ", "en", Unknown},
        {"Turn the lights on", "en", Unknown},
        {"Turn the lights on.", "en", Whole},
        {"Turn the", "en", Open},
        {"Turn the lights on and", "en", Open},
        {"Turn the lights on and.", "en", Open},
        {"I would like, um...", "en", Open},
        {"I would like, Um", "en-GB", Open},
        {"Where are you from?", "en", Whole},
        {"where are you from", "en", Open},
        {"I bought sand", "en", Unknown},
        {"in the", "en", Open},
        {"set it to", "en", Unknown},
        {"Stop!", "en", Whole},
        {"Well \u2014", "en", Open},
        {"She said \"yes.\"", "en", Whole},
        {"Mach das Licht an und", "de", Open},
        {"Mach das Licht an und", "en", Unknown},
        {"\u00c4h", "de", Open},
        {"Je voudrais le", "fr", Open},
        {"\u96fb\u6c17\u3092\u3064\u3051\u3066\u3002", "ja", Whole},
        {"\u96fb\u6c17\u3092", "ja", Open},
        {"\u56e0\u4e3a", "zh", Open},
        {"\xff\xfe", "en", Unknown},
        {"...", "en", Open}}) {
    EXPECT_EQ(clause_state(text, language), wanted) << text << " in " << language;
  }
}

// A tone of that level, where 0 dB is a mean square of one.
std::vector<float> tone(double seconds, double db) {
  std::vector<float> samples(static_cast<size_t>(seconds * kRate));
  const double peak = std::sqrt(2.0) * std::pow(10, db / 20);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(
        peak * std::sin(2 * std::numbers::pi * 200 * static_cast<double>(i) / kRate));
  }
  return samples;
}

TEST(TurnLevelTest, WhoIsFainterThanTheSpeakerIsAnother) {
  TurnLevel level;
  level.begin();
  level.push(tone(2, -20), true);
  EXPECT_EQ(level.faint_s(), 0);
  level.push(tone(1.5, -30), true);
  EXPECT_NEAR(level.faint_s(), 1.5 - 13 * 0.032, 0.1);
  level.push(tone(0.3, -20), true);
  EXPECT_EQ(level.faint_s(), 0);
  // Who speaks a little lower is the same.
  level.push(tone(3, -24), true);
  EXPECT_EQ(level.faint_s(), 0);
  // Another turn is another speaker's.
  level.begin();
  level.push(tone(2, -40), true);
  EXPECT_EQ(level.faint_s(), 0);
}

TEST(TurnLevelTest, AFallIsWhatTheLastOfAVoiceIsBelowItsLevel) {
  TurnLevel level;
  level.begin();
  EXPECT_EQ(level.fall_db(), std::nullopt);
  level.push(tone(2, -20), true);
  EXPECT_NEAR(level.fall_db().value_or(-1), 0, 1);
  level.push(tone(0.4, -32), true);
  EXPECT_NEAR(level.fall_db().value_or(-1), 12, 1);
  // What is said by nobody is not its end.
  level.push(tone(0.48, -25), false);
  EXPECT_NEAR(level.fall_db().value_or(-1), 12, 1);
  // The loudest of its last 0.3 s counts.
  level.push(tone(0.19, -70), true);
  EXPECT_NEAR(level.fall_db().value_or(-1), 12, 1);
  level.push(tone(0.32, -70), true);
  EXPECT_NEAR(level.fall_db().value_or(-1), 50, 1);
  level.begin();
  EXPECT_EQ(level.fall_db(), std::nullopt);
}

TEST(TurnLevelTest, SilenceIsNoVoiceOfAnybody) {
  TurnLevel level;
  level.begin();
  level.push(std::vector<float>(static_cast<size_t>(3 * kRate)), true);
  EXPECT_EQ(level.faint_s(), 0);
}

// Says what it was told, and how much it was shown.
class FakeScorer final : public TurnScorer {
 public:
  explicit FakeScorer(float says) : says_(says) {}

  [[nodiscard]] Result<float> score(std::span<const float> turn) const override {
    shown.push_back(turn.size());
    if (fails) {
      return fail(ErrorCode::Device, "it fell over");
    }
    return says_;
  }

  [[nodiscard]] int64_t window() const override { return 8 * kRate; }

  mutable std::vector<size_t> shown;
  bool fails = false;

 private:
  float says_;
};

class EndOfTurnTest : public testing::Test {
 protected:
  void listen(float score) {
    scorer_ = std::make_shared<FakeScorer>(score);
    turn_.emplace(scorer_, end_of_turn_rule(Eagerness::Medium));
  }

  // Sound without anything found in it but `events`, told with the piece that ends behind each. The
  // time of the first end.
  std::optional<double> play(double seconds, std::vector<VoiceEvent> events = {}, double db = -20) {
    std::optional<double> ended;
    const std::vector<float> sound = tone(seconds, db);
    for (std::span<const float> left(sound); !left.empty();) {
      const auto piece = left.first(std::min(left.size(), kPiece));
      left = left.subspan(piece.size());
      played_ += static_cast<int64_t>(piece.size());
      std::vector<VoiceEvent> now;
      while (!events.empty() && events.front().at <= played_) {
        now.push_back(events.front());
        events.erase(events.begin());
      }
      const auto found = turn_->push(piece, now);
      EXPECT_TRUE(found.has_value()) << found.error().message;
      if (found && *found && !ended) {
        ended = static_cast<double>(played_) / kRate;
        end_ = **found;
      }
    }
    return ended;
  }

  std::shared_ptr<FakeScorer> scorer_;
  std::optional<EndOfTurn> turn_;
  std::optional<EndOfTurn::End> end_;
  int64_t played_ = 0;
};

TEST_F(EndOfTurnTest, AHighScoreEndsAtTheFirstLook) {
  listen(0.99F);
  EXPECT_FALSE(play(1.7, {{Kind::Began, kRate}}));
  const auto ended = play(1.3, {{Kind::Paused, 2 * kRate}}, -32);
  ASSERT_TRUE(ended.has_value());
  EXPECT_NEAR(*ended, 2 + end_of_turn_rule(Eagerness::Medium).first_look_s(), 0.07);
  EXPECT_EQ(end_->why, TurnEnd::Said);
  EXPECT_EQ(end_->at, 2 * kRate);
  // From half a second before the voice.
  EXPECT_NEAR(static_cast<double>(scorer_->shown.front()) / kRate, 1.6, 0.07);
  EXPECT_FALSE(turn_->is_open());
}

TEST_F(EndOfTurnTest, AVoiceThatStopsAtItsLoudestWaitsForAHigherScore) {
  listen(0.6F);
  EXPECT_FALSE(play(1.5, {{Kind::Began, 0}, {Kind::Paused, kRate}}));
}

TEST_F(EndOfTurnTest, ALowScoreIsAskedForEveryTenthOfASecond) {
  listen(0.01F);
  const auto ended = play(6, {{Kind::Began, 0}, {Kind::Paused, kRate}});
  ASSERT_TRUE(ended.has_value());
  const EndOfTurnRule rule = end_of_turn_rule(Eagerness::Medium);
  EXPECT_NEAR(*ended, 1 + rule.longest_silence_s, 0.1);
  EXPECT_EQ(end_->why, TurnEnd::Silence);
  const double looks = (rule.longest_silence_s - 0.1) / 0.128;
  EXPECT_NEAR(static_cast<double>(scorer_->shown.size()), looks, 2);
}

TEST_F(EndOfTurnTest, WhoGoesOnIsNotAsked) {
  listen(0.01F);
  EXPECT_FALSE(play(4, {{Kind::Began, 0}, {Kind::Paused, kRate}, {Kind::WentOn, kRate * 17 / 16}}));
  EXPECT_TRUE(scorer_->shown.empty());
  EXPECT_TRUE(turn_->is_open());
}

TEST_F(EndOfTurnTest, NobodysTurnDoesNotEnd) {
  listen(0.99F);
  EXPECT_FALSE(play(40));
  EXPECT_TRUE(scorer_->shown.empty());
}

TEST_F(EndOfTurnTest, ALongTurnIsShownByItsLastSeconds) {
  listen(0.99F);
  ASSERT_TRUE(play(28, {{Kind::Began, kRate}, {Kind::Paused, 24 * kRate}}));
  EXPECT_EQ(scorer_->shown.front(), static_cast<size_t>(8 * kRate));
}

TEST_F(EndOfTurnTest, NoTurnIsLongerThanHalfAMinute) {
  listen(0.01F);
  const auto ended = play(40, {{Kind::Began, kRate}});
  ASSERT_TRUE(ended.has_value());
  EXPECT_NEAR(*ended, 31, 0.05);
  EXPECT_EQ(end_->why, TurnEnd::TooLong);
}

TEST_F(EndOfTurnTest, AVoiceWithoutWordsEndsATurnThatHadSome) {
  listen(0.01F);
  EXPECT_FALSE(play(2, {{Kind::Began, 0}}));
  turn_->hear("turn the lights", "en");
  EXPECT_FALSE(play(3));
  turn_->hear("turn the lights on", "en");
  EXPECT_FALSE(play(3));
  turn_->hear("turn the lights on", "en");
  const auto ended = play(3);
  ASSERT_TRUE(ended.has_value());
  EXPECT_NEAR(*ended, 9, 0.1);
  EXPECT_EQ(end_->why, TurnEnd::Wordless);
}

// A television goes on behind the speaker, so that the detector hears no pause.
TEST_F(EndOfTurnTest, AFainterVoiceEndsATurnAndTheSpeakerBeginsAnother) {
  listen(0.01F);
  EXPECT_FALSE(play(2, {{Kind::Began, 0}}));
  const auto ended = play(3, {}, -30);
  ASSERT_TRUE(ended.has_value());
  EXPECT_NEAR(*ended, 2 + 13 * 0.032 + end_of_turn_rule(Eagerness::Medium).longest_faint_s, 0.1);
  EXPECT_EQ(end_->why, TurnEnd::AnotherVoice);
  EXPECT_NEAR(static_cast<double>(end_->at) / kRate, 2.4, 0.1);
  EXPECT_FALSE(turn_->is_open());
  EXPECT_FALSE(play(1));
  EXPECT_TRUE(turn_->is_open());
  EXPECT_TRUE(play(3, {}, -30));
}

TEST_F(EndOfTurnTest, WithoutAModelSilenceEndsTurns) {
  turn_.emplace(nullptr, end_of_turn_rule(Eagerness::High));
  const auto ended = play(4, {{Kind::Began, 0}, {Kind::Paused, kRate}});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(end_->why, TurnEnd::Silence);
}

TEST_F(EndOfTurnTest, ADeviceThatFailsIsAnErrorAndTheTurnGoesOn) {
  listen(0.99F);
  scorer_->fails = true;
  const std::vector<float> second = tone(1, -20);
  const VoiceEvent began{Kind::Began, 0};
  ASSERT_TRUE(turn_->push(second, std::span(&began, 1)));
  const VoiceEvent paused{Kind::Paused, kRate};
  const auto failed = turn_->push(second, std::span(&paused, 1));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "it fell over");
  scorer_->fails = false;
  const auto ended = turn_->push(second, {});
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(ended->has_value());
}

}  // namespace
}  // namespace mynah
