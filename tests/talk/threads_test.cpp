// The same conversation with threads: for the thread sanitizer. Nothing is said of when.
#include <gmock/gmock.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

TEST(TalkThreads, ConverseAndAreStoppedAtAnyTime) {
  WordEar ear({"hello", "there"});
  const float hello = ear.sample_of("hello");
  for (int round = 0; round < 20; ++round) {
    ScriptMind mind;
    LetterMouth mouth;
    SilenceRule end(0.3);
    ThreadWorkers workers;
    Conversation conversation({.voice = std::make_shared<LoudVoice>(),
                               .ear = ear,
                               .mind = mind,
                               .mouth = mouth,
                               .end = end,
                               .workers = workers},
                              {});
    conversation.warm_up();
    std::vector<float> played;
    const std::vector<float> loud(kFrame, hello);
    const std::vector<float> silence(kFrame);
    // Ends in the middle of something, each round of something else.
    for (int frame = 0; frame < 60 + 17 * round; ++frame) {
      conversation.step(frame % 150 < 50 ? loud : silence, played);
      static_cast<void>(conversation.take_events());
    }
  }
}

TEST(TalkThreads, ATurnIsRepliedTo) {
  WordEar ear({"hello"});
  ScriptMind mind;
  LetterMouth mouth;
  SilenceRule end(0.3);
  ThreadWorkers workers;
  Conversation conversation({.voice = std::make_shared<LoudVoice>(),
                             .ear = ear,
                             .mind = mind,
                             .mouth = mouth,
                             .end = end,
                             .workers = workers},
                            {});
  std::vector<float> played;
  const std::vector<float> loud(kFrame, ear.sample_of("hello"));
  for (int frame = 0; frame < 50; ++frame) {
    conversation.step(loud, played);
  }
  const std::vector<float> silence(kFrame);
  bool said = false;
  while (!said) {
    conversation.step(silence, played);
    for (const TalkEvent& event : conversation.take_events()) {
      said |= event.kind == TalkEvent::Kind::Said;
    }
    std::this_thread::yield();
  }
  EXPECT_EQ(conversation.messages().back()["content"], "All right.");
}

}  // namespace
}  // namespace mynah::talk
