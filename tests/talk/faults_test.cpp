// What goes wrong in the middle of a conversation, and how it goes on.
#include <gmock/gmock.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Text that never says the same.
std::string counted(int from, int to) {
  std::string text;
  for (int number = from; number < to; ++number) {
    text += std::to_string(number) + " and ";
  }
  return text + "so on.";
}

TEST_F(TalkTest, AReplyThatNeverEndsIsBrokenOffAndSaidSo) {
  mind_.answers = {counted(0, 10000)};
  begin();
  say("hello");
  wait(2);
  ASSERT_THAT(all(Kind::Fault), SizeIs(1));
  EXPECT_EQ(all(Kind::Fault)[0].fault->organ, Organ::Mind);
  EXPECT_THAT(all(Kind::Fault)[0].fault->error.message,
              HasSubstr("does not end: it was broken off behind 16 KiB of text"));
  wait(200);  // of 16 KiB each letter sounds for 10 ms
  ASSERT_THAT(all(Kind::Said), SizeIs(1));
  EXPECT_GT(all(Kind::Said)[0].text.size(), 16000U);
  EXPECT_LE(all(Kind::Said)[0].text.size(), 16384U);
  say("what");
  wait(3);
  EXPECT_THAT(texts(Kind::Said).back(), "All right.");
}

TEST_F(TalkTest, ThoughtsThatNeverEndAreBrokenOffToo) {
  // Thinks until it is told that it is enough.
  class Thinker final : public Mind {
   public:
    Result<ChatReply> reply(const ChatRequest& /*request*/, ChatObserver& observer,
                            const std::stop_token& stop) override {
      ChatDelta delta;
      delta.said.reasoning = std::string(1000, 'h');
      while (!stop.stop_requested()) {
        MYNAH_TRY_STATUS(observer.on_delta(delta));
      }
      return fail(ErrorCode::Cancelled, "stopped");
    }

    [[nodiscard]] OrganFacts facts() const override { return {.model = "thinker"}; }
  } thinker;

  conversation_ = std::make_unique<Conversation>(TalkParts{.voice = std::make_shared<LoudVoice>(),
                                                           .ear = ear_,
                                                           .mind = thinker,
                                                           .mouth = mouth_,
                                                           .end = *end_,
                                                           .workers = workers_},
                                                 TalkSettings{});
  say("hello");
  wait(3);
  ASSERT_THAT(all(Kind::Fault), SizeIs(1));
  EXPECT_THAT(all(Kind::Fault)[0].fault->error.message, HasSubstr("256 KiB of thoughts"));
  EXPECT_THAT(mouth_.spoken, IsEmpty());
  EXPECT_TRUE(conversation_->is_at_rest());
}

// Its device fails in the middle of a reply, which goes on elsewhere.
class MovingMind final : public Mind {
 public:
  Result<ChatReply> reply(const ChatRequest& /*request*/, ChatObserver& observer,
                          const std::stop_token& /*stop*/) override {
    ChatDelta delta;
    delta.said.content = "I was on a card. ";
    MYNAH_TRY_STATUS(observer.on_delta(delta));
    place = "cpu";
    delta.said.content = "Now I am not.";
    MYNAH_TRY_STATUS(observer.on_delta(delta));
    return ChatReply();
  }

  [[nodiscard]] OrganFacts facts() const override { return {.model = "mover", .place = place}; }

  std::string place = "cuda:0";
};

TEST_F(TalkTest, WhereADeviceFailsTheReplyGoesOnAndItIsToldWhere) {
  MovingMind mind;
  conversation_ = std::make_unique<Conversation>(TalkParts{.voice = std::make_shared<LoudVoice>(),
                                                           .ear = ear_,
                                                           .mind = mind,
                                                           .mouth = mouth_,
                                                           .end = *end_,
                                                           .workers = workers_},
                                                 TalkSettings{});
  say("hello");
  wait(5);
  say("what");
  wait(5);
  const std::string whole = "I was on a card. Now I am not.";
  EXPECT_THAT(texts(Kind::Said), ElementsAre(whole, whole));
  EXPECT_THAT(all(Kind::Fault), IsEmpty());
  ASSERT_THAT(all(Kind::Moved), SizeIs(1));
  EXPECT_EQ(all(Kind::Moved)[0].organ, Organ::Mind);
  EXPECT_EQ(all(Kind::Moved)[0].text, "cpu");
  conversation_.reset();
}

TEST_F(TalkTest, NothingIsLostOfWhatADeafEarDidNotHear) {
  ear_.failures = 3;
  begin();
  for (const char* const word : {"hello", "there", "wait"}) {
    say(word);
    wait(1.5);
  }
  EXPECT_THAT(all(Kind::Fault), SizeIs(3));
  say("what");
  wait(2);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello there wait what"));
}

TEST(ChatRecord, LeavesOutTheOldestTurnsWhereItIsLong) {
  ChatRecord record({}, "You speak.");
  const std::string words(1000, 'w');
  for (int turn = 0; turn < 2000; ++turn) {
    record.add_user(std::to_string(turn) + " " + words);
    record.add_assistant(words);
  }
  const auto& messages = record.messages();
  EXPECT_EQ(messages[0]["role"], "system");
  EXPECT_EQ(messages[1]["role"], "user");
  size_t bytes = 0;
  for (const auto& message : messages) {
    bytes += message["content"].get<std::string>().size();
  }
  EXPECT_LE(bytes, kMostRecorded);
  EXPECT_GT(bytes, kMostRecorded / 4);
  EXPECT_TRUE(messages[messages.size() - 2]["content"].get<std::string>().starts_with("1999 "));
}

// One that is longer than all that is kept is kept.
TEST(ChatRecord, NeverLeavesOutTheLastTurn) {
  ChatRecord record({}, "");
  record.add_user("first");
  record.add_assistant("yes");
  record.add_user(std::string(2 * kMostRecorded, 'w'));
  record.add_user("more");
  ASSERT_EQ(record.messages().size(), 1U);
  EXPECT_TRUE(record.messages()[0]["content"].get<std::string>().ends_with("w\nmore"));
}

}  // namespace
}  // namespace mynah::talk
