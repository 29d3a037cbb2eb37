// A desk whose device, room and organs do as a test says: nothing in it hangs on time.
#include "cli/talk/desk_talk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "room_device.h"
#include "talk/fake_talk.h"

namespace mynah::cli {
namespace {

using talk::TalkEvent;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 100;  // frames

// Hears words in whatever it is given, and keeps that.
class AnyEar final : public talk::Ear {
 public:
  Result<talk::HeardText> hear(std::span<const float> samples, const talk::HearWish& /*wish*/,
                               const std::stop_token& /*stop*/) override {
    heard.emplace_back(samples.begin(), samples.end());
    return talk::HeardText{.text = "what is the time", .language = "en"};
  }

  [[nodiscard]] talk::OrganFacts facts() const override { return {.model = "any", .place = "cpu"}; }

  std::vector<std::vector<float>> heard;
};

// Speaks noise in syllables, 60 ms a letter.
class SyllableMouth final : public talk::Mouth {
 public:
  [[nodiscard]] int rate_hz() const override { return kHeardHz; }

  Status speak(std::string_view text, const talk::SpeakWish& /*wish*/, SpeechObserver& observer,
               const std::stop_token& /*stop*/) override {
    const double seconds = 0.06 * static_cast<double>(text.size());
    SpokenClause clause{.text = std::string(text), .end = text.size()};
    clause.samples = echo::syllables(seconds, kHeardHz, ++seed_);
    clause.end_s = seconds;
    return observer.on_clause(clause);
  }

  [[nodiscard]] talk::OrganFacts facts() const override {
    return {.model = "syllables", .place = "cpu"};
  }

 private:
  uint32_t seed_ = 100;
};

class DeskTalkTest : public ::testing::Test {
 protected:
  void run(RoomDevice::Script script) {
    script.before = [this, before = std::move(script.before)](int64_t frame) {
      workers_.go_to(frame * static_cast<int64_t>(kSoundFrame));
      if (before) {
        before(frame);
      }
    };
    workers_ = {};
    device_ = std::make_unique<RoomDevice>(std::move(script));
    const auto stage = *talk::EchoStage::create(kHeardHz, std::make_shared<talk::LoudVoice>());
    talk::TalkSettings settings;
    settings.interruption.hold = talk::LoudVoice::kSamples;
    talk::Conversation conversation({.voice = stage->voice(),
                                     .ear = ear_,
                                     .mind = mind_,
                                     .mouth = mouth_,
                                     .end = end_,
                                     .workers = workers_},
                                    std::move(settings));
    talk::WakeGate awake(conversation, nullptr, {.played_hz = mouth_.rate_hz()});
    DeskTalk desk(
        {.conversation = conversation,
         .gate = awake,
         .device = *device_,
         .stage = *stage,
         .tell = [this](const TalkEvent& event) { events_.push_back(event); },
         .note = [this](std::string_view, const std::string& note) { notes_.push_back(note); },
         .asleep_s = asleep_s_},
        false);
    ASSERT_TRUE(desk.run({}));
    conversation.close();
    workers_.finish();
  }

  [[nodiscard]] std::vector<TalkEvent> all(TalkEvent::Kind kind) const {
    std::vector<TalkEvent> found;
    std::ranges::copy_if(events_, std::back_inserter(found),
                         [kind](const TalkEvent& event) { return event.kind == kind; });
    return found;
  }

  // A question of a second and a half, from that second on.
  static std::pair<const int64_t, std::vector<float>> question(int64_t second, uint32_t seed) {
    return {second * kHeardHz, echo::syllables(1.5, kHeardHz, seed)};
  }

  AnyEar ear_;
  talk::ScriptMind mind_;
  SyllableMouth mouth_;
  talk::SilenceRule end_{0.6};
  talk::ClockWorkers workers_;
  std::unique_ptr<RoomDevice> device_;
  std::vector<TalkEvent> events_;
  std::vector<std::string> notes_;
  std::function<double()> asleep_s_ = [] { return 0.0; };
};

// Of some ten seconds, when it is spoken.
const std::string kLongReply(
    "It is noon, and whoever asks me for the time of the day is told so, whatever he wants to do "
    "with it. There is more to say about that, and so I go on for a while.");

TEST_F(DeskTalkTest, DoesNotInterruptItselfInARoomThatEchoes) {
  mind_.answer = kLongReply;
  run({.frames = 30 * kSecond, .voices = {question(1, 41), question(16, 42)}});
  EXPECT_THAT(all(TalkEvent::Kind::Heard), SizeIs(2));
  const auto said = all(TalkEvent::Kind::Said);
  ASSERT_THAT(said, SizeIs(2));
  for (const TalkEvent& event : said) {
    EXPECT_FALSE(event.interrupted);
    EXPECT_EQ(event.text, kLongReply);
  }
  EXPECT_THAT(all(TalkEvent::Kind::Held), IsEmpty());
}

double correlation(std::span<const float> one, std::span<const float> other) {
  double both = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    both += static_cast<double>(one[i]) * other[i];
  }
  const double powers = echo::power_of(one) * echo::power_of(other);
  return both / static_cast<double>(one.size()) / std::sqrt(powers + 1e-20);
}

// How much of what was heard is a voice, where the loudest tenth of a second of it lies.
double likeness(std::span<const float> heard, std::span<const float> voice) {
  constexpr size_t kLoud = 2000;  // of echo::syllables(): the middle of the first
  constexpr size_t kPiece = 800;
  size_t best_at = 0;
  double best = 0;
  for (size_t at = kLoud; at + voice.size() - kLoud <= heard.size(); ++at) {
    const double found = correlation(heard.subspan(at, kPiece), voice.subspan(kLoud, kPiece));
    if (found > best) {
      best = found;
      best_at = at;
    }
  }
  return best_at == 0 ? 0 : correlation(heard.subspan(best_at - kLoud, voice.size()), voice);
}

TEST_F(DeskTalkTest, WhoSpeaksOverItStopsItAndIsHeardWhole) {
  mind_.answer = kLongReply;
  const auto over = question(8, 43);
  run({.frames = 13 * kSecond, .voices = {question(1, 41), over}});
  const auto held = all(TalkEvent::Kind::Held);
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_LE(held[0].at - over.first, samples_of(0.4));
  const auto said = all(TalkEvent::Kind::Said);
  ASSERT_FALSE(said.empty());
  EXPECT_TRUE(said[0].interrupted);
  EXPECT_TRUE(kLongReply.starts_with(said[0].text));
  EXPECT_THAT(all(TalkEvent::Kind::Heard), SizeIs(2));
  EXPECT_GT(likeness(ear_.heard.back(), over.second), 0.9);
}

// A headset leaves while a reply is spoken, and another comes: the echo is learned anew.
TEST_F(DeskTalkTest, AMicrophoneThatLeavesAndComesBackEndsNothing) {
  for (const Listening gone : {Listening::Away, Listening::Muted}) {
    events_.clear();
    mind_.answer = kLongReply;
    run({.frames = 24 * kSecond,
         .voices = {question(1, 41), question(16, 42)},
         .listening =
             [gone](int64_t frame) {
               return frame >= 5 * kSecond && frame < 10 * kSecond ? gone : Listening::Microphone;
             },
         .news = {{5 * kSecond, {.kind = SoundNews::Kind::Waiting, .text = "it is away"}},
                  {10 * kSecond, {.kind = SoundNews::Kind::Returned, .text = "it is back"}}}});
    EXPECT_THAT(all(TalkEvent::Kind::Heard), SizeIs(2));
    const auto said = all(TalkEvent::Kind::Said);
    ASSERT_FALSE(said.empty());
    EXPECT_FALSE(said[0].interrupted);
    EXPECT_THAT(all(TalkEvent::Kind::Held), IsEmpty());
    EXPECT_THAT(notes_, ::testing::ElementsAre("it is away", "it is back"));
    notes_.clear();
  }
}

TEST_F(DeskTalkTest, AReplyThatNobodyHearsEndsAndTheNextIsHeard) {
  mind_.answer = kLongReply;
  run({.frames = 32 * kSecond,
       .voices = {question(1, 41), question(16, 42)},
       .plays = [](int64_t frame) { return frame < 6 * kSecond || frame > 14 * kSecond; }});
  EXPECT_THAT(notes_, ::testing::ElementsAre("the reply ended: the loudspeaker plays nothing"));
  const auto said = all(TalkEvent::Kind::Said);
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_TRUE(said[0].interrupted);
  EXPECT_NEAR(seconds_of(said[0].at), 11, 0.5);  // and pauses, which do not wait
  EXPECT_FALSE(device_->sounded(14 * kSecond, 17 * kSecond));
  EXPECT_FALSE(said[1].interrupted);
}

// A sound server that is started again: what waited is played then.
TEST_F(DeskTalkTest, AReplyGoesOnBehindALoudspeakerThatComesBackSoon) {
  mind_.answer = kLongReply;
  run({.frames = 20 * kSecond, .voices = {question(1, 41)}, .plays = [](int64_t frame) {
         return frame < 6 * kSecond || frame > 8 * kSecond;
       }});
  EXPECT_THAT(notes_, IsEmpty());
  const auto said = all(TalkEvent::Kind::Said);
  ASSERT_THAT(said, SizeIs(1));
  EXPECT_FALSE(said[0].interrupted);
  const auto over = said[0].at / static_cast<int64_t>(kSoundFrame);
  EXPECT_TRUE(device_->sounded(over + kSecond, over + 2 * kSecond));
}

TEST_F(DeskTalkTest, WhatWasSaidBeforeTheMicrophoneLeftIsRepliedTo) {
  const auto asked = question(1, 41);
  run({.frames = 6 * kSecond, .voices = {asked}, .listening = [](int64_t frame) {
         return frame < 2 * kSecond ? Listening::Microphone : Listening::Away;
       }});
  EXPECT_THAT(all(TalkEvent::Kind::Heard), SizeIs(1));
  EXPECT_GT(likeness(ear_.heard.back(), std::span(asked.second).first(kHeardHz)), 0.99);
  EXPECT_THAT(all(TalkEvent::Kind::Said), SizeIs(1));
}

// The lid is closed while a reply is spoken, and opened an hour later.
TEST_F(DeskTalkTest, AMachineThatSleptGoesOnAndSaysSo) {
  mind_.answer = kLongReply;
  asleep_s_ = [this] { return device_->now() < 6 * kSecond ? 7.0 : 3607.5; };
  run({.frames = 24 * kSecond, .voices = {question(1, 41), question(9, 42)}});
  EXPECT_THAT(notes_, ::testing::ElementsAre(
                          "this machine slept for 60 min: the reply ended there, and the "
                          "conversation goes on"));
  const auto said = all(TalkEvent::Kind::Said);
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_TRUE(said[0].interrupted);
  EXPECT_FALSE(device_->sounded(6 * kSecond + 10, 9 * kSecond));
  EXPECT_FALSE(said[1].interrupted);
  EXPECT_EQ(said[1].text, kLongReply);
}

// What was said before it slept and what is said behind is one question.
TEST_F(DeskTalkTest, AQuestionGoesOnBehindASleep) {
  const auto first = question(1, 41);
  const auto second = std::pair(first.first + std::ssize(first.second), first.second);
  asleep_s_ = [this] { return device_->now() < 2 * kSecond ? 0.0 : 20.0; };
  run({.frames = 8 * kSecond, .voices = {first, second}});
  EXPECT_THAT(notes_, ::testing::ElementsAre("this machine slept for 20 s"));
  EXPECT_THAT(all(TalkEvent::Kind::Heard), SizeIs(1));
  EXPECT_GE(std::ssize(ear_.heard.back()), samples_of(3));
}

}  // namespace
}  // namespace mynah::cli
