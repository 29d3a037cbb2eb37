// Tools in a conversation out loud: when they run, what is told and kept of them, and what stops
// them.
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>

#include "calling_mind.h"
#include "talk/organs/tool_mind.h"
#include "talk_fixture.h"
#include "talk_tools/recording_tools.h"

namespace mynah::talk {
namespace {

using test::call_of;
using test::recording;
using test::SameKey;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Answer = Confirm::Answer;
using News = ToolNews::Kind;

class ToolTalkTest : public TalkTest {
 protected:
  void begin_with(std::deque<CallingMind::Reply> replies) {
    calling_ = std::make_unique<CallingMind>(std::move(replies));
    calling_->leaves_machine = elsewhere_;
    tools_ = std::make_unique<ToolMind>(*calling_, box_, key_);
    outer_ = tools_.get();
    begin();
  }

  [[nodiscard]] std::vector<std::pair<News, std::string>> news() const {
    std::vector<std::pair<News, std::string>> found;
    for (const TalkEvent& event : all(Kind::Tool)) {
      found.emplace_back(event.tool->kind, event.tool->text);
    }
    return found;
  }

  ~ToolTalkTest() override {
    // The minds go before the fixture's conversation would.
    if (conversation_) {
      conversation_->close();
      workers_.finish();
      conversation_.reset();
    }
  }

  bool elsewhere_ = false;
  ToolBox box_;
  SameKey key_{Answer::Yes};
  std::unique_ptr<CallingMind> calling_;
  std::unique_ptr<ToolMind> tools_;
};

TEST_F(ToolTalkTest, ACallIsRunOnceTheTurnIsOverAndStandsInTheRecord) {
  const auto look = recording("look", false, "rain");
  box_.add(look);
  begin_with({{.text = "Let me look.", .calls = {call_of("look", "{\"town\":\"Ulm\"}")}},
              {.text = "It rains."}});
  say("hello");
  wait(0.4);  // the reply is prepared, the turn not over
  ASSERT_EQ(calling_->asked.size(), 1U);
  EXPECT_EQ(calling_->asked[0].tools[0]["function"]["name"], "look");
  EXPECT_THAT(look->runs, IsEmpty());
  EXPECT_THAT(news(), IsEmpty());
  wait(2);
  ASSERT_EQ(look->runs.size(), 1U);
  EXPECT_EQ(look->runs[0]["town"], "Ulm");
  EXPECT_THAT(mouth_.spoken, ElementsAre("Let me look.", "It rains."));
  EXPECT_THAT(texts(Kind::Said), ElementsAre("Let me look.\n\nIt rains."));
  EXPECT_THAT(news(), ElementsAre(std::pair(News::Called, "{\"town\":\"Ulm\"}"),
                                  std::pair(News::Answered, "rain")));
  EXPECT_THAT(record(), ElementsAre("user: hello", "assistant: Let me look.", "tool: rain",
                                    "assistant: It rains."));
  const auto messages = conversation_->messages();
  EXPECT_EQ(messages[2]["tool_calls"][0]["function"]["name"], "look");
  EXPECT_EQ(messages[3]["tool_call_id"], messages[2]["tool_calls"][0]["id"]);
  // The next turn knows of it.
  say("there");
  wait(2);
  EXPECT_EQ(calling_->asked.back().messages[3]["content"], "rain");
  EXPECT_EQ(look->runs.size(), 1U);
}

TEST_F(ToolTalkTest, WhatNobodyNoticesRunsForAReplyThatMayBeThrownAway) {
  const auto clock = std::make_shared<test::RecordingTool>(ToolFacts{.name = "clock",
                                                                     .description = "The time.",
                                                                     .origin = "test",
                                                                     .changes = false,
                                                                     .unnoticed = true},
                                                           "noon");
  box_.add(clock);
  begin_with({{.text = "", .calls = {call_of("clock")}},
              {.text = "It is noon."},
              {.text = "", .calls = {call_of("clock")}},
              {.text = "Noon."}});
  say("what");
  wait(0.3);
  EXPECT_EQ(clock->runs.size(), 1U);
  EXPECT_THAT(news(), IsEmpty()) << "the turn is not over";
  say("time");
  wait(2);
  EXPECT_EQ(clock->runs.size(), 2U);
  EXPECT_EQ(news().size(), 2U) << "of the reply that was said";
  EXPECT_THAT(record(),
              ElementsAre("user: what time", "assistant: ", "tool: noon", "assistant: Noon."));
}

TEST_F(ToolTalkTest, WhatChangesIsNeverRunForAReplyThatIsThrownAway) {
  const auto unlock = recording("unlock", true, "unlocked");
  box_.add(unlock);
  begin_with({{.text = "", .calls = {call_of("unlock", "{\"first\":true}")}},
              {.text = "", .calls = {call_of("unlock", "{\"first\":false}")}},
              {.text = "It is open."}});
  say("hello");
  wait(0.4);
  say("there");
  wait(3);
  ASSERT_EQ(unlock->runs.size(), 1U);
  EXPECT_EQ(unlock->runs[0]["first"], false);
  ASSERT_EQ(key_.questions.size(), 1U) << "a key is asked for once";
  EXPECT_THAT(news(), ElementsAre(std::pair(News::Called, "{\"first\":false}"),
                                  std::pair(News::Asks, "unlock {\"first\":false}"),
                                  std::pair(News::Answered, "unlocked")));
  EXPECT_THAT(texts(Kind::Said), ElementsAre("It is open."));
}

TEST_F(ToolTalkTest, AModelElsewhereIsToldNothingThatMayNotLeave) {
  elsewhere_ = true;
  const auto diary = recording("diary", false, "secret");
  const auto weather = recording("weather", false, "rain", true);
  box_.add(diary);
  box_.add(weather);
  begin_with({{.text = "", .calls = {call_of("diary"), call_of("weather")}}, {.text = "Rain."}});
  say("hello");
  wait(3);
  ASSERT_EQ(calling_->asked.size(), 2U);
  EXPECT_EQ(calling_->asked[0].tools.size(), 1U);
  EXPECT_THAT(diary->runs, IsEmpty());
  EXPECT_THAT(calling_->asked[1].messages.dump(), testing::Not(HasSubstr("secret")));
  EXPECT_EQ(weather->runs.size(), 1U);
}

TEST_F(ToolTalkTest, ACallThatNoToolHasIsAnsweredAndAModelThatCallsForeverEnds) {
  begin_with(std::deque<CallingMind::Reply>(
      100, {.text = "", .calls = {call_of("nothing", "no json", false)}}));
  say("hello");
  wait(3);
  EXPECT_LE(calling_->asked.size(), static_cast<size_t>(kMostRounds));
  EXPECT_EQ(all(Kind::Said).size(), 1U);
  ASSERT_EQ(all(Kind::Remark).size(), 1U);
  EXPECT_THAT(texts(Kind::Remark).front(), HasSubstr("10 times"));
}

TEST_F(ToolTalkTest, WhatRingsIsSaidOnceBetweenTurns) {
  begin();
  say("hello", 0.3);
  conversation_->ring("timer 1 is over", "en");
  say("there");
  EXPECT_THAT(all(Kind::Rings), IsEmpty()) << "somebody speaks";
  EXPECT_FALSE(conversation_->is_at_rest());
  wait(4);
  EXPECT_THAT(texts(Kind::Said), ElementsAre("All right.", "timer 1 is over"));
  EXPECT_THAT(texts(Kind::Rings), ElementsAre("timer 1 is over"));
  EXPECT_EQ(all(Kind::Replies).size(), 1U) << "nobody asked for it";
  EXPECT_EQ(mouth_.wishes.back().language, "en");
  EXPECT_THAT(record(), ElementsAre("user: hello there", "assistant: All right.\ntimer 1 is over"));
  EXPECT_TRUE(conversation_->is_at_rest());
}

TEST_F(ToolTalkTest, WhatRingsAndWasNotHeardIsSaidLater) {
  workers_.takes[static_cast<size_t>(Organ::Mouth)] = samples_of(1.5);
  begin();
  wait(0.1);
  conversation_->ring("timer 1 is over", "en");
  wait(0.1);
  conversation_->stop_speaking();  // before there is a sound of it
  EXPECT_FALSE(conversation_->is_at_rest());
  wait(5);
  EXPECT_THAT(texts(Kind::Rings), ElementsAre("timer 1 is over"));
  EXPECT_THAT(texts(Kind::Said), ElementsAre("timer 1 is over"));
}

// Runs until it is stopped.
class Endless final : public Tool {
 public:
  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const ToolJson& /*arguments*/,
                                        const ToolRun& run) override {
    ++runs;
    run.on_progress("half way");
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, run.stop, [] { return false; });
    return fail(ErrorCode::Cancelled, "stopped");
  }

  std::atomic<int> runs = 0;

 private:
  ToolFacts facts_{.name = "send",
                   .description = "Sends it.",
                   .parameters = {{"type", "object"}},
                   .origin = "test"};
};

TEST(ToolTalkThreads, WhoSpeaksOverACallStopsItAndItIsNotRepeated) {
  WordEar ear({"hello", "there"});
  LetterMouth mouth;
  SilenceRule end(0.3);
  ToolBox box;
  const auto send = std::make_shared<Endless>();
  box.add(send);
  SameKey yes(Answer::Yes);
  CallingMind calling(
      {{.text = "", .calls = {call_of("send"), call_of("send")}}, {.text = "As you like."}});
  ToolMind mind(calling, box, yes);
  ThreadWorkers workers;
  Conversation conversation({.voice = std::make_shared<LoudVoice>(),
                             .ear = ear,
                             .mind = mind,
                             .mouth = mouth,
                             .end = end,
                             .workers = workers},
                            {});
  std::vector<float> played;
  std::vector<TalkEvent> events;
  // Captures frames of a sample until an event of that kind comes.
  const auto until = [&](float sample, const std::function<bool(const TalkEvent&)>& wanted) {
    const std::vector<float> frame(kFrame, sample);
    while (true) {
      conversation.step(frame, played);
      for (TalkEvent& event : conversation.take_events()) {
        events.push_back(std::move(event));
        if (wanted(events.back())) {
          return;
        }
      }
      std::this_thread::yield();
    }
  };
  const std::vector<float> hello(kFrame, ear.sample_of("hello"));
  for (int frame = 0; frame < 50; ++frame) {
    conversation.step(hello, played);
  }
  until(0, [](const TalkEvent& event) { return event.tool && event.tool->kind == News::Progress; });
  EXPECT_EQ(events.back().tool->text, "half way");
  until(ear.sample_of("there"),
        [](const TalkEvent& event) { return event.kind == TalkEvent::Kind::Said; });
  EXPECT_TRUE(events.back().interrupted);
  // As long as no knock is.
  const std::vector<float> there(kFrame, ear.sample_of("there"));
  for (int frame = 0; frame < 50; ++frame) {
    conversation.step(there, played);
  }
  until(0, [](const TalkEvent& event) { return event.kind == TalkEvent::Kind::Said; });
  EXPECT_EQ(events.back().text, "As you like.");
  EXPECT_EQ(send->runs, 1) << "the second call was not begun";
  const auto messages = conversation.messages();
  ASSERT_EQ(messages.size(), 7U) << messages.dump(1);
  EXPECT_EQ(messages[2]["tool_calls"].size(), 2U);
  for (const size_t answer : {size_t{3}, size_t{4}}) {
    EXPECT_EQ(messages[answer]["role"], "tool");
    EXPECT_THAT(messages[answer]["content"].get<std::string>(), HasSubstr("may be done"));
  }
  EXPECT_THAT(messages[5]["content"].get<std::string>(), HasSubstr("there"));
}

}  // namespace
}  // namespace mynah::talk
