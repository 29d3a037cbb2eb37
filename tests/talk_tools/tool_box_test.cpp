// ToolBox and its rounds: what is offered, what is asked, what runs.
#include "talk/tools/tool_box.h"

#include <latch>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "talk_tools/recording_tools.h"

namespace mynah::talk {
namespace {

using test::call_of;
using test::recording;
using test::SameKey;
using test::ScriptedHost;
using Answer = Confirm::Answer;

std::set<std::string> names_of(const ToolJson& tools) {
  std::set<std::string> names;
  for (const auto& tool : tools) {
    names.insert(tool["function"]["name"].get<std::string>());
  }
  return names;
}

TEST(ToolBox, RunsWhatLooksWithoutAsking) {
  ToolBox box;
  const auto look = recording("look", false, "it is warm");
  box.add(look);
  SameKey key(Answer::No);
  const auto answer = box.call(call_of("look", R"({"room": "hall"})"), ModelPlace::Here, key, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "it is warm");
  EXPECT_TRUE(answer->ran);
  EXPECT_TRUE(key.questions.empty());
  ASSERT_EQ(look->runs.size(), 1U);
  EXPECT_EQ(look->runs[0]["room"], "hall");
}

TEST(ToolBox, RunsWhatChangesOnceAKeySaysSo) {
  ToolBox box;
  const auto unlock = recording("unlock", true);
  box.add(unlock);
  const auto call = call_of("unlock", R"({"door": "front"})");
  SameKey no(Answer::No);
  EXPECT_EQ(box.call(call, ModelPlace::Here, no, {})->text,
            "error: the user does not let this run");
  NobodyConfirms nobody;
  const auto refused = box.call(call, ModelPlace::Here, nobody, {});
  EXPECT_FALSE(refused->ran);
  EXPECT_NE(refused->why.find("nobody is here"), std::string::npos) << refused->why;
  SameKey away(std::nullopt);
  EXPECT_EQ(box.call(call, ModelPlace::Here, away, {}).error().code, ErrorCode::Cancelled);
  EXPECT_TRUE(unlock->runs.empty());
  SameKey yes(Answer::Yes);
  EXPECT_TRUE(box.call(call, ModelPlace::Here, yes, {})->ran);
  ASSERT_EQ(yes.questions.size(), 1U);
  EXPECT_EQ(yes.questions[0].origin, "test");
  EXPECT_EQ(yes.questions[0].shown, R"(unlock {"door":"front"})");
  EXPECT_EQ(unlock->runs.size(), 1U);
  EXPECT_TRUE(box.call(call, ModelPlace::Here, yes, {})->ran);
  EXPECT_EQ(yes.questions.size(), 2U) << "a key lets one call run";
}

TEST(ToolBox, AnswersWhatCannotRun) {
  ToolBox box;
  const auto look = recording("look_up", false);
  box.add(look);
  SameKey yes(Answer::Yes);
  EXPECT_TRUE(box.call(call_of("look_ip"), ModelPlace::Here, yes, {})
                  ->text.starts_with("error: there is no tool look_ip"));
  EXPECT_TRUE(box.call(call_of("look_up", "[1", false), ModelPlace::Here, yes, {})
                  ->text.starts_with("error: the arguments"));
  EXPECT_TRUE(look->runs.empty());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(
      box.call(call_of("look_up"), ModelPlace::Here, yes, {.stop = stop.get_token()}).error().code,
      ErrorCode::Cancelled);
}

TEST(ToolBox, LetsNothingLeaveThatIsNotMarked) {
  ToolBox box;
  const auto kept = recording("calendar", false, "a secret");
  const auto open = recording("weather", false, "rain", true);
  box.add(kept);
  box.add(open);
  EXPECT_EQ(names_of(box.offered(ModelPlace::Here)),
            (std::set<std::string>{"calendar", "weather"}));
  EXPECT_EQ(names_of(box.offered(ModelPlace::Elsewhere)), (std::set<std::string>{"weather"}));
  SameKey yes(Answer::Yes);
  const auto refused = box.call(call_of("calendar"), ModelPlace::Elsewhere, yes, {});
  EXPECT_FALSE(refused->ran) << "not even where its model calls it unasked";
  EXPECT_TRUE(kept->runs.empty());
  EXPECT_EQ(refused->text.find("a secret"), std::string::npos);
  EXPECT_TRUE(box.call(call_of("weather"), ModelPlace::Elsewhere, yes, {})->ran);
}

TEST(ToolBox, BoundsAnswers) {
  ToolBox box;
  std::string long_text;
  while (long_text.size() < 2000) {
    long_text += "äöü";
  }
  box.add(recording("long", false, long_text));
  box.add(recording("broken", false, "caf\xe9"));
  SameKey yes(Answer::Yes);
  const auto cut = box.call(call_of("long"), ModelPlace::Here, yes, {.most_bytes = 101});
  EXPECT_TRUE(cut->text.starts_with("äöü"));
  EXPECT_NE(cut->text.find("äö\n[cut here: 100 of 2004 bytes are shown]"), std::string::npos)
      << cut->text;
  EXPECT_EQ(box.call(call_of("broken"), ModelPlace::Here, yes, {})->text, "caf\uFFFD");
}

// A source whose tools become others.
class Changing final : public ToolSource {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }

  [[nodiscard]] std::vector<std::shared_ptr<Tool>> tools(const std::stop_token& /*stop*/,
                                                         std::vector<std::string>& notes) override {
    notes.emplace_back("looked");
    return now;
  }

  std::vector<std::shared_ptr<Tool>> now;

 private:
  std::string name_ = "house";
};

TEST(ToolBox, KeepsTheFirstOfANameAndFollowsItsSources) {
  ToolBox box;
  const auto own = recording("get_time", false, "ours");
  box.add(own);
  auto source = std::make_unique<Changing>();
  Changing* const house = source.get();
  box.add(std::move(source));
  house->now = {recording("get_time", false, "theirs"), recording("light on!", true),
                recording(std::string(100, 'x'), false)};
  EXPECT_EQ(box.refresh({}), std::vector<std::string>{"looked"});
  EXPECT_EQ(
      names_of(box.offered(ModelPlace::Here)),
      (std::set<std::string>{"get_time", "house_get_time", "light_on_", std::string(64, 'x')}));
  SameKey yes(Answer::Yes);
  EXPECT_EQ(box.call(call_of("get_time"), ModelPlace::Here, yes, {})->text, "ours");
  EXPECT_EQ(box.call(call_of("house_get_time"), ModelPlace::Here, yes, {})->text, "theirs");
  house->now.clear();
  static_cast<void>(box.refresh({}));
  EXPECT_EQ(names_of(box.offered(ModelPlace::Here)), (std::set<std::string>{"get_time"}));
}

// One that has its tool once all of them were asked.
class Meeting final : public ToolSource {
 public:
  Meeting(std::string name, std::latch& all_asked)
      : name_(std::move(name)), all_asked_(all_asked) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  [[nodiscard]] std::vector<std::shared_ptr<Tool>> tools(const std::stop_token& /*stop*/,
                                                         std::vector<std::string>& notes) override {
    all_asked_.arrive_and_wait();
    notes.push_back(name_ + " is there");
    return {recording("open", false, name_)};
  }

 private:
  std::string name_;
  std::latch& all_asked_;
};

TEST(ToolBox, AsksItsSourcesSideBySideAndKeepsTheirOrder) {
  std::latch all_asked(3);
  ToolBox box;
  for (const char* const name : {"door", "mail", "lamp"}) {
    box.add(std::make_unique<Meeting>(name, all_asked));
  }
  EXPECT_EQ(box.refresh({}),
            (std::vector<std::string>{"door is there", "mail is there", "lamp is there"}));
  SameKey yes(Answer::Yes);
  EXPECT_EQ(box.call(call_of("open"), ModelPlace::Here, yes, {})->text, "door");
  EXPECT_EQ(box.call(call_of("lamp_open"), ModelPlace::Here, yes, {})->text, "lamp");
}

TEST(Rounds, GoOnUntilNothingIsCalled) {
  ToolBox box;
  const auto look = recording("look", false, "seen");
  box.add(look);
  SameKey yes(Answer::Yes);
  ScriptedHost host({{call_of("look"), call_of("look")}, {call_of("gone")}});
  const auto last = run_rounds(box, ModelPlace::Here, yes, host);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->message.calls.empty());
  EXPECT_EQ(host.offered.size(), 3U);
  ASSERT_EQ(host.answers.size(), 3U) << "each call is answered";
  EXPECT_EQ(host.answers[0].second.text, "seen");
  EXPECT_FALSE(host.answers[2].second.ran);
}

TEST(Rounds, EndForWhoCallsForever) {
  ToolBox box;
  const auto look = recording("look", false, "seen");
  box.add(look);
  SameKey yes(Answer::Yes);
  std::deque<std::vector<ToolCall>> forever(100, std::vector<ToolCall>(40, call_of("look")));
  ScriptedHost host(forever);
  const auto last = run_rounds(box, ModelPlace::Here, yes, host);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->message.calls.empty()) << "all of them were answered";
  ASSERT_FALSE(last->notes.empty());
  EXPECT_EQ(last->notes.back().code, kRoundsOverNote);
  EXPECT_EQ(host.offered.size(), static_cast<size_t>(kMostRounds));
  EXPECT_EQ(look->runs.size(), kMostRounds * kMostCallsOfReply);
  EXPECT_EQ(host.answers.size(), kMostRounds * 40U);
}

}  // namespace
}  // namespace mynah::talk
