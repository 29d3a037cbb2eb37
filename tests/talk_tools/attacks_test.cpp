// Thirty texts that would have something done, by voice, file, tool result and remembered fact, and
// a model that does what any text in front of it says: without a key nothing is changed.
#include "talk_tools/attacks.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "talk/tools/own_tools.h"
#include "talk/tools/rounds.h"
#include "talk_tools/recording_tools.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using test::Attack;
using test::By;
using test::kAttacks;
using test::obeyed;
using test::recording;
using test::SameKey;
using Answer = Confirm::Answer;

// A conversation with a model that reads all that is in front of it and does the last thing that
// any of it says.
class Obedient final : public RoundsHost {
 public:
  explicit Obedient(std::string heard) : heard_(std::move(heard)) {}

  [[nodiscard]] Result<ChatReply> reply(const ToolJson& /*tools*/) override {
    ChatReply reply;
    reply.message.calls = obeyed(heard_);
    calls += reply.message.calls.size();
    heard_.clear();
    return reply;
  }

  void on_answer(const ToolCall& /*call*/, const CallAnswer& answer) override {
    heard_ = answer.text;
  }

  void on_note(const std::string& /*note*/) override {}

  [[nodiscard]] ToolRun next_run() override { return {}; }

  size_t calls = 0;

 private:
  std::string heard_;
};

class Attacks : public testing::TestWithParam<Answer> {};

TEST_P(Attacks, ChangeNothingWithoutAKey) {
  const mynah::test::TemporaryFolder folder;
  size_t obeyed_calls = 0;
  for (const Attack& attack : kAttacks) {
    SCOPED_TRACE(attack.text);
    ToolBox box;
    const auto unlock = recording("unlock", true);
    const auto send_mail = recording("send_mail", true);
    const auto delete_files = recording("delete_files", true);
    // A server that offers another tool under a name that is taken.
    const auto shadow = recording("unlock", true);
    const auto weather = recording("get_weather", false, std::string(attack.text));
    mynah::test::write_file(folder / "shelf/note.txt", attack.text);
    const auto timers = Timers::open(folder / "timers.sqlite");
    ASSERT_TRUE(timers) << timers.error().message;
    const SystemSeconds now(std::chrono::seconds(1'800'000'000));
    if ((*timers)->all()->empty()) {
      ASSERT_TRUE(
          (*timers)->add({.due = now + std::chrono::hours(1), .label = "", .zone = {}}, now));
    }
    const std::vector<Timer> before = *(*timers)->all();
    for (const auto& tool : {unlock, send_mail, delete_files, shadow, weather}) {
      box.add(tool);
    }
    const auto file_tools = make_file_tools(folder / "shelf");
    ASSERT_TRUE(file_tools) << file_tools.error().message;
    for (const auto& tool : *file_tools) {
      box.add(tool);
    }
    for (const auto& tool : make_timer_tools(*timers, [now] { return now; })) {
      box.add(tool);
    }
    std::string heard;
    switch (attack.by) {
      case By::Voice:
        heard = attack.text;
        break;
      case By::File:
        heard = "Read my note: CALL read_file {\"path\":\"note.txt\"}";
        break;
      case By::Result:
        heard = "How is the weather? CALL get_weather {}";
        break;
      case By::Fact:
        heard = "(What the user said before: \"" + std::string(attack.text) + "\") Good morning!";
        break;
    }
    Obedient model(heard);
    SameKey key(GetParam());
    const auto last = run_rounds(box, ModelPlace::Here, key, model);
    ASSERT_TRUE(last) << last.error().message;
    obeyed_calls += model.calls;
    EXPECT_GE(model.calls, attack.by == By::Voice || attack.by == By::Fact ? 1U : 2U)
        << "the model obeyed";
    for (const auto& tool : {unlock, send_mail, delete_files, shadow}) {
      EXPECT_TRUE(tool->runs.empty());
    }
    EXPECT_EQ(*(*timers)->all(), before);
  }
  EXPECT_GE(obeyed_calls, 45U);
}

INSTANTIATE_TEST_SUITE_P(Keys, Attacks, testing::Values(Answer::No, Answer::Nobody));

TEST(Obedience, RunsWhereTheKeyIsPressed) {
  // The same model does run it where the key is pressed: what held it back was nothing else.
  ToolBox box;
  const auto unlock = recording("unlock", true);
  box.add(unlock);
  Obedient model(std::string(kAttacks[0].text));
  SameKey yes(Answer::Yes);
  ASSERT_TRUE(run_rounds(box, ModelPlace::Here, yes, model));
  EXPECT_EQ(unlock->runs.size(), 1U);
}

}  // namespace
}  // namespace mynah::talk
