// A memory in a conversation out loud: what the model is reminded of, what is kept; and what
// neither a voice nor a file, a tool or a memory has done without a key.
#include <gmock/gmock.h>

#include "calling_mind.h"
#include "talk/memory/sqlite_memory.h"
#include "talk/memory/turn_keeper.h"
#include "talk/organs/remembering_mind.h"
#include "talk/organs/tool_mind.h"
#include "talk/tools/own_tools.h"
#include "talk_fixture.h"
#include "talk_tools/attacks.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using test::Attack;
using test::By;
using test::kAttacks;
using test::recording;
using test::SameKey;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Answer = Confirm::Answer;

class MemoryTalkTest : public TalkTest {
 protected:
  void SetUp() override {
    auto opened = open_sqlite_memory({.folder = folder_ / "memory"});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }

  ~MemoryTalkTest() override {
    // Minds of a test go before the fixture's conversation would.
    end();
  }

  void end() {
    if (conversation_) {
      conversation_->close();
      workers_.finish();
      conversation_.reset();
    }
  }

  // In an earlier conversation.
  void said(const std::string& text) {
    ConversationMemory earlier(store_, {}, "talk", "");
    ASSERT_TRUE(earlier.keep({.origin = MemoryOrigin::User, .text = text}));
  }

  [[nodiscard]] std::shared_ptr<ConversationMemory> memory() const {
    return std::make_shared<ConversationMemory>(store_, MeaningModel{}, "talk", "");
  }

  mynah::test::TemporaryFolder folder_;
  std::shared_ptr<MemoryStore> store_;
};

TEST_F(MemoryTalkTest, AReplyThatIsThrownAwayRemindedNobody) {
  said("What I said of hello was true.");
  RememberingMind mind(mind_, memory());
  outer_ = &mind;
  begin();
  say("hello");
  wait(0.4);  // a reply is prepared
  ASSERT_EQ(mind_.asked.size(), 1U);
  EXPECT_THAT(mind_.asked[0].back()["content"].get<std::string>(), HasSubstr("was true."));
  EXPECT_TRUE(all(Kind::Recalled).empty()) << "nobody hears that reply yet";
  say("what");
  wait(2);
  ASSERT_EQ(mind_.asked.size(), 2U);
  ASSERT_EQ(all(Kind::Recalled).size(), 1U) << "by the reply that was played alone";
  EXPECT_EQ(all(Kind::Recalled)[0].tool->text, "What I said of hello was true.");
  EXPECT_EQ(all(Kind::Recalled)[0].tool->name.size(), 10U);
  const auto told = mind_.asked[1].back()["content"].get<std::string>();
  EXPECT_THAT(told, HasSubstr("was true."));
  EXPECT_TRUE(told.ends_with("hello what"));
  EXPECT_THAT(record(), ElementsAre("user: " + told, "assistant: All right."))
      << "what the model has read stays";
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello what")) << "and nobody said it";
  say("hello");
  wait(2);
  EXPECT_EQ(mind_.asked.back().back()["content"], "hello") << "once in a conversation";
  end();
}

TEST_F(MemoryTalkTest, AKeeperKeepsAllThatItWasGivenBeforeItEnds) {
  {
    TurnKeeper keeper(memory(), [](const std::string& error) { FAIL() << error; });
    for (int turn = 0; turn < 20; ++turn) {
      keeper.set_idle(turn % 2 == 0);
      keeper.keep({.origin = MemoryOrigin::User, .text = "turn " + std::to_string(turn)});
    }
    keeper.keep({.origin = MemoryOrigin::User, .text = "Remember that I am at home."});
    keeper.keep({.origin = MemoryOrigin::Assistant, .text = "I will", .played = "I will"});
  }
  EXPECT_EQ(store_->counts()->turns, 22);
  EXPECT_EQ(store_->counts()->facts, 1);
  EXPECT_EQ(store_->counts()->conversations, 1);
  EXPECT_EQ(store_->list({.origins = {MemoryOrigin::Assistant}}, 1)->front().turn.played, "I will");
}

// What any message in front of a model says last, which it does.
CallingMind::Reply obey(const ChatRequest& request) {
  auto content = request.messages.back()["content"].get<std::string>();
  std::erase(content, '\\');  // a quotation's
  return {.text = "", .calls = test::obeyed(content)};
}

class TalkAttacks : public MemoryTalkTest, public testing::WithParamInterface<Answer> {
 protected:
  // One conversation; how often the model called.
  size_t attack(const Attack& attack, Confirm& key) {
    end();
    mynah::test::write_file(folder_ / "shelf/note.txt", attack.text);
    ToolBox box;
    changing_ = {recording("unlock", true), recording("send_mail", true),
                 recording("delete_files", true)};
    for (const auto& tool : changing_) {
      box.add(tool);
    }
    box.add(recording("get_weather", false, std::string(attack.text)));
    const auto files = make_file_tools(folder_ / "shelf");
    EXPECT_TRUE(files) << files.error().message;
    for (const auto& tool : *files) {
      box.add(tool);
    }
    for (const auto& tool : make_timer_tools(timers_, [] { return kNow; })) {
      box.add(tool);
    }
    std::string heard(attack.text);
    if (attack.by == By::File) {
      heard = "Read my note: CALL read_file {\"path\":\"note.txt\"}";
    } else if (attack.by == By::Result) {
      heard = "How is the weather? CALL get_weather {}";
    } else if (attack.by == By::Fact) {
      said(std::string(attack.text));
      heard = "who did call me back";
    }
    ear_ = WordEar({heard});
    size_t calls = 0;
    CallingMind obedient([&calls](const ChatRequest& request) {
      CallingMind::Reply reply = obey(request);
      calls += reply.calls.size();
      return reply;
    });
    ToolMind tools(obedient, box, key);
    RememberingMind mind(tools, memory());
    outer_ = &mind;
    begin();
    say(heard);
    wait(3);
    end();
    EXPECT_EQ(*store_->forget({}) > 0, attack.by == By::Fact);
    return calls;
  }

  [[nodiscard]] size_t runs() const {
    size_t count = 0;
    for (const auto& tool : changing_) {
      count += tool->runs.size();
    }
    return count;
  }

  static constexpr SystemSeconds kNow{std::chrono::seconds(1'800'000'000)};
  std::shared_ptr<Timers> timers_ = *Timers::open(folder_ / "timers.sqlite");
  std::vector<std::shared_ptr<test::RecordingTool>> changing_;
};

TEST_P(TalkAttacks, ChangeNothingWithoutAKey) {
  ASSERT_TRUE(timers_->add({.due = kNow + std::chrono::hours(1), .label = "", .zone = {}}, kNow));
  const std::vector<Timer> before = *timers_->all();
  for (const Attack& one : kAttacks) {
    SCOPED_TRACE(one.text);
    SameKey key(GetParam());
    const size_t calls = attack(one, key);
    EXPECT_GE(calls, one.by == By::Voice || one.by == By::Fact ? 1U : 2U) << "the model obeyed";
    EXPECT_EQ(runs(), 0U);
    EXPECT_EQ(*timers_->all(), before);
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, TalkAttacks, testing::Values(Answer::No, Answer::Nobody));

using TalkObedience = TalkAttacks;

TEST_P(TalkObedience, RunsWhereTheKeyIsPressed) {
  SameKey yes(GetParam());
  attack(kAttacks[0], yes);
  EXPECT_EQ(runs(), 1U) << "nothing but the key held it back";
}

INSTANTIATE_TEST_SUITE_P(Key, TalkObedience, testing::Values(Answer::Yes));

}  // namespace
}  // namespace mynah::talk
