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
