// What a conversation hears behind the canceller, and whom its detector takes for somebody.
#include "talk/turns/echo_stage.h"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "audio/echo/signals.h"
#include "talk_fixture.h"

namespace mynah::talk {
namespace {

struct Room {
  std::vector<float> cleaned;
  std::vector<float> probabilities;  // of frames of 32 ms
};

Room listen(std::span<const float> captured, std::span<const float> played) {
  Room room;
  const auto stage = *EchoStage::create(16000, std::make_shared<LoudVoice>());
  const auto session = stage->voice()->session();
  for (size_t at = 0; at + echo::kFrame <= captured.size(); at += echo::kFrame) {
    const std::vector<float> heard =
        stage->push(captured.subspan(at, echo::kFrame),
                    played.empty() ? played : played.subspan(at, echo::kFrame));
    EXPECT_EQ(heard.size(), echo::kFrame);
    room.cleaned.insert(room.cleaned.end(), heard.begin(), heard.end());
    const auto found = session->push(heard);
    room.probabilities.insert(room.probabilities.end(), found->begin(), found->end());
  }
  return room;
}

size_t voiced(const Room& room, double from_s, double to_s) {
  const auto first = room.probabilities.begin() + static_cast<ptrdiff_t>(from_s / 0.032);
  const auto last = room.probabilities.begin() + static_cast<ptrdiff_t>(to_s / 0.032);
  return static_cast<size_t>(std::count_if(first, last, [](float p) { return p >= 0.5F; }));
}

// LoudVoice takes everything that is not silent for a voice: who is let through is NearVoice's word
// alone.
TEST(EchoStage, LetsSomebodyThroughBesideAnEchoAndNotTheEcho) {
  const std::vector<float> played = echo::syllables(14, 16000, 21);
  std::vector<float> captured = echo::echo_of(played, 16000, 640, 30, echo::room(0.1, 22));
  const std::vector<float> voice = echo::syllables(14, 16000, 23);
  for (size_t i = 10 * 16000; i < 12 * 16000; ++i) {
    captured[i] += voice[i];
  }
  const Room room = listen(captured, played);
  EXPECT_EQ(voiced(room, 0.2, 10), 0U);
  // 62 frames; the first five are waited for, syllables have gaps, and the voice is held for a
  // while.
  EXPECT_GT(voiced(room, 10, 12), 40U);
  EXPECT_EQ(voiced(room, 12.8, 13.9), 0U);
}

TEST(EchoStage, LeavesTheDetectorAloneWhileNothingIsPlayed) {
  const std::vector<float> voice = echo::syllables(2, 16000, 24);
  const Room room = listen(voice, {});
  EXPECT_EQ(room.cleaned, voice);
  const auto session = LoudVoice().session();
  EXPECT_EQ(room.probabilities, *session->push(voice));
}

TEST(EchoStage, HearsSilenceWhereTheStageGaveNothing) {
  const auto stage = *EchoStage::create(24000, std::make_shared<LoudVoice>());
  const auto session = stage->voice()->session();
  const std::vector<float> loud(1024, 0.5F);
  EXPECT_EQ(*session->push(loud), (std::vector<float>{0.1F, 0.1F}));
  stage->reset();
  EXPECT_FALSE(stage->facts().far_active);
  EXPECT_FALSE(EchoStage::create(1, std::make_shared<LoudVoice>()));
}

// LoudVoice, whose device fails for a while.
class FailingVoice final : public VoiceDetector {
 public:
  class FailingSession final : public Session {
   public:
    explicit FailingSession(const bool& fails) : fails_(fails) {}

    Result<std::vector<float>> push(std::span<const float> samples) override {
      return fails_ ? fail(ErrorCode::Device, "the detector is deaf") : loud_.push(samples);
    }

    Result<std::vector<float>> flush() override { return loud_.flush(); }

    void reset() override { loud_.reset(); }

    [[nodiscard]] Result<std::vector<std::byte>> save() const override { return loud_.save(); }

    Status restore(std::span<const std::byte> state) override { return loud_.restore(state); }

   private:
    const bool& fails_;
    LoudVoice::LoudSession loud_;
  };

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<FailingSession>(fails);
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> recordings) const override {
    return LoudVoice().probabilities(recordings);
  }

  [[nodiscard]] int rate_hz() const override { return kHearingRate_hz; }

  [[nodiscard]] double frame_s() const override { return LoudVoice().frame_s(); }

  [[nodiscard]] std::string name() const override { return "failing"; }

  bool fails = false;
};

TEST(EchoStage, ADetectorThatFailedIsNotBehindWhenItIsBack) {
  const auto voice = std::make_shared<FailingVoice>();
  const auto stage = *EchoStage::create(16000, voice);
  const auto session = stage->voice()->session();
  const std::vector<float> silence(kFrame);
  const std::vector<float> loud(kFrame, 0.1F);
  const auto push = [&](std::span<const float> captured) {
    return session->push(stage->push(captured, {}));
  };
  voice->fails = true;
  int failures = 0;
  for (int frame = 0; frame < 500; ++frame) {
    failures += push(loud) ? 0 : 1;
  }
  EXPECT_GT(failures, 100);
  voice->fails = false;
  std::vector<float> probabilities;
  for (int frame = 0; frame < 16; ++frame) {
    const auto found = push(silence);
    ASSERT_TRUE(found);
    probabilities.insert(probabilities.end(), found->begin(), found->end());
  }
  // Of what was said while it failed no more than the frame that was under way.
  ASSERT_GE(probabilities.size(), 4U);
  EXPECT_EQ(std::ranges::count(probabilities, 0.9F), 0);
}

TEST_F(TalkTest, WhileADetectorFailsNothingGrowsAndThenItHears) {
  const auto voice = std::make_shared<FailingVoice>();
  conversation_ = std::make_unique<Conversation>(TalkParts{.voice = voice,
                                                           .ear = ear_,
                                                           .mind = mind_,
                                                           .mouth = mouth_,
                                                           .end = *end_,
                                                           .workers = workers_},
                                                 TalkSettings{});
  voice->fails = true;
  say("hello", 60);
  // Told once, not with each piece of sound.
  EXPECT_EQ(all(Kind::Fault).size(), 1U);
  voice->fails = false;
  wait(1);
  say("what");
  wait(3);
  EXPECT_EQ(texts(Kind::Heard), (std::vector<std::string>{"what"}));
  EXPECT_NEAR(all(Kind::Replies).at(0).times.sound_ms, 600, 100);
  // In the middle of a turn: all of it is heard, with what comes behind.
  say("time", 0.6);
  voice->fails = true;
  say("there", 0.6);
  voice->fails = false;
  say("wait", 0.6);
  wait(3);
  EXPECT_EQ(texts(Kind::Heard), (std::vector<std::string>{"what", "time there wait"}));
}

// A reply of which "hello there" is played when its echo is heard as that, or as other words.
TEST_F(TalkTest, WhatItHearsOfItsOwnWordsDoesNotStopIt) {
  for (const auto& [first, second, stops] :
       {std::tuple("hello", "there", false), std::tuple("what", "time", true)}) {
    events_.clear();
    mind_.answers = {"So hello there, dear friend of the house, and welcome. " +
                     std::string(30, 'a') + " " + std::string(200, 'b') + "."};
    begin();
    say("wait");
    wait(1.4);  // of them 0.8 s of the reply
    say(first, 0.2);
    say(second, 0.2);
    wait(6);
    const auto said = all(Kind::Said);
    ASSERT_FALSE(said.empty()) << first;
    EXPECT_EQ(said[0].interrupted, stops) << first;
    EXPECT_EQ(all(Kind::Heard).size(), stops ? 2U : 1U) << first;
    conversation_->close();
    workers_.finish();
  }
}

}  // namespace
}  // namespace mynah::talk
