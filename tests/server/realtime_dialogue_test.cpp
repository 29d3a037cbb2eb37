// A Dialogue of Realtime: what replies are asked for, and when, by what is heard.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/tiny_language.h"
#include "server/realtime/dialogue.h"
#include "temporary_folder.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Replies are asked for, and given by nobody.
class RealtimeDialogue : public ::testing::Test {
 protected:
  struct Given {
    Reply reply;
    std::stop_source stop;
  };

  void SetUp() override {
    ServiceOptions options;
    options.placement.device = "cpu";
    options.placement.threads = 1;
    options.chat_model = ::mynah::test::write_tiny_language(folder_ / "tiny.gguf");
    auto service = Service::create(
        std::move(options),
        {.environment = Environment({{"HOME", folder_.path()}, {"MYNAH_HOME", folder_ / "home"}})});
    ASSERT_TRUE(service) << service.error().message;
    service_ = *std::move(service);
    keys_ = *KeyRing::open({});
    places_.emplace(TurnPlaces{.board = service_->board(), .keys = *keys_, .log = {}});
    RequestHead head;
    head.work = std::make_shared<RequestWork>("test");
    head.rights = kAllRights;
    turns_.emplace(*places_, head);
    dialogue_ = std::make_unique<Dialogue>(
        Dialogue::Surroundings{.service = *service_,
                               .turns = *turns_,
                               .outbox = outbox_,
                               .name = "s",
                               .wake = [] {},
                               .give =
                                   [this](Reply reply, std::stop_source stop) {
                                     given_.push_back({std::move(reply), std::move(stop)});
                                     return true;
                                   },
                               .open =
                                   [this](std::string model) {
                                     opened_.push_back(std::move(model));
                                     return opens_;
                                   }},
        head);
    recognizer_ = *builtin_recognizer();
    static_cast<void>(told());
  }

  // What the client was told since it was asked last.
  std::string told() { return outbox_->take().bytes; }

  EarObserver& ear() { return *dialogue_; }

  static HeardItem item(const std::string& text, const std::string& language = "en") {
    HeardItem heard;
    heard.id = "item_1";
    heard.text = text;
    heard.language = language;
    return heard;
  }

  // The turn is over, and was that.
  void end_turn(const HeardItem& heard) {
    ear().on_stopped(heard);
    ear().on_committed(heard);
    ear().on_completed(heard, *recognizer_);
  }

  static std::string asked(const Given& given) { return given.reply.asked->chat.messages.dump(); }

  mynah::test::TemporaryFolder folder_;
  std::shared_ptr<Outbox> outbox_ = std::make_shared<Outbox>([] {});
  std::unique_ptr<Service> service_;
  std::unique_ptr<KeyRing> keys_;
  std::optional<TurnPlaces> places_;
  std::optional<SocketTurns> turns_;
  std::shared_ptr<const Recognizer> recognizer_;
  std::vector<Given> given_;
  std::vector<std::string> opened_;
  bool opens_ = false;
  std::unique_ptr<Dialogue> dialogue_;  // the first to go
};

TEST_F(RealtimeDialogue, AReplyThatWasPreparedIsKeptWhereTheTurnSaysTheSame) {
  ear().on_started(item(""));
  ear().on_provisional(item("what time is it"), *recognizer_);
  ASSERT_THAT(given_, SizeIs(1));
  const auto hold = given_[0].reply.hold;
  ASSERT_NE(hold, nullptr);
  EXPECT_THAT(asked(given_[0]), HasSubstr("what time is it"));
  EXPECT_THAT(told(), Not(HasSubstr("response.")));
  EXPECT_THAT(dialogue_->conversation().items(), IsEmpty());
  end_turn(item("What time is it?"));
  EXPECT_THAT(given_, SizeIs(1));
  EXPECT_FALSE(hold->is_held());
  EXPECT_FALSE(given_[0].stop.stop_requested());
  const std::string events = told();
  EXPECT_THAT(events, HasSubstr("\"response.created\""));
  EXPECT_THAT(events, HasSubstr(given_[0].reply.response_id));
}

TEST_F(RealtimeDialogue, AReplyThatWasPreparedIsThrownAwayWhereTheTurnSaysMore) {
  ear().on_started(item(""));
  ear().on_provisional(item("What time is it"), *recognizer_);
  ear().on_provisional(item("What time is it in Rome"), *recognizer_);
  ASSERT_THAT(given_, SizeIs(2));
  EXPECT_TRUE(given_[0].stop.stop_requested());
  ear().on_went_on();
  EXPECT_TRUE(given_[1].stop.stop_requested());
  ear().on_provisional(item("What time is it in Rome now"), *recognizer_);
  end_turn(item("What time is it in Rome, Anna?"));
  ASSERT_THAT(given_, SizeIs(4));
  EXPECT_TRUE(given_[2].stop.stop_requested());
  EXPECT_TRUE(given_[2].reply.hold->is_held()) << "nobody wanted it";
  EXPECT_EQ(given_[3].reply.hold, nullptr);
  EXPECT_THAT(asked(given_[3]), HasSubstr("Anna"));
}

TEST_F(RealtimeDialogue, AReplyThatCameToNothingIsAskedForAgain) {
  ear().on_started(item(""));
  ear().on_provisional(item("Hello."), *recognizer_);
  ASSERT_THAT(given_, SizeIs(1));
  ASSERT_TRUE(given_[0].reply.hold->give_up());
  end_turn(item("Hello."));
  ASSERT_THAT(given_, SizeIs(2));
  EXPECT_EQ(given_[1].reply.hold, nullptr);
}

TEST_F(RealtimeDialogue, WhatChangesTheConversationIsInTheReply) {
  ear().on_started(item(""));
  ear().on_provisional(item("Hello."), *recognizer_);
  ASSERT_TRUE(dialogue_->take(
      R"({"type": "conversation.item.create", "item": {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "It rains."}]}})"));
  end_turn(item("Hello."));
  ASSERT_THAT(given_, SizeIs(2));
  EXPECT_TRUE(given_[0].stop.stop_requested());
  EXPECT_THAT(asked(given_[1]), HasSubstr("It rains."));
}

TEST_F(RealtimeDialogue, AModelIsToldWhichLanguageIsSpoken) {
  ear().on_started(item(""));
  ear().on_provisional(item("Wie spät ist es?", "de"), *recognizer_);
  ASSERT_THAT(given_, SizeIs(1));
  EXPECT_EQ(given_[0].reply.language, "de");
  EXPECT_THAT(asked(given_[0]), HasSubstr("The user speaks German now."));
  end_turn(item("Wie spät ist es?", "de"));
  EXPECT_THAT(given_, SizeIs(1));
  // What is typed behind it is in no language that was heard.
  dialogue_->end_reply({.response_id = given_[0].reply.response_id});
  ASSERT_TRUE(dialogue_->take(
      R"({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}})"));
  ASSERT_TRUE(dialogue_->take(R"({"type": "response.create"})"));
  ASSERT_THAT(given_, SizeIs(2));
  EXPECT_EQ(given_[1].reply.language, "");
  EXPECT_THAT(asked(given_[1]), Not(HasSubstr("German")));
}

TEST_F(RealtimeDialogue, NothingIsPreparedBehindATurnThatHasNoTextYet) {
  ear().on_started(item(""));
  ear().on_committed(item(""));
  HeardItem next = item("And more.");
  next.id = "item_2";
  ear().on_started(next);
  ear().on_provisional(next, *recognizer_);
  EXPECT_THAT(given_, IsEmpty());
}

TEST_F(RealtimeDialogue, AModelIsOpenedElsewhereBeforeItsEventIsTaken) {
  constexpr std::string_view kUpdate =
      R"({"type": "session.update", "session": {"audio": {"input": {"transcription": {"language": "en"}}}}})";
  opens_ = true;
  EXPECT_FALSE(dialogue_->take(kUpdate)) << "it waits";
  EXPECT_EQ(told(), "");
  EXPECT_THAT(opened_, SizeIs(1));
  EXPECT_TRUE(dialogue_->take(kUpdate));
  EXPECT_THAT(told(), HasSubstr("session.updated"));
  EXPECT_TRUE(dialogue_->take(R"({"type": "input_audio_buffer.append", "audio": "AAAAAAAA"})"));
  EXPECT_THAT(opened_, SizeIs(1)) << "once";
}

TEST_F(RealtimeDialogue, WithoutAFreeThreadAModelIsOpenedHere) {
  EXPECT_TRUE(dialogue_->take(R"({"type": "input_audio_buffer.append", "audio": "AAAAAAAA"})"));
  EXPECT_THAT(opened_, SizeIs(1));
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace mynah::server
