// Conversations that are shortened, what their next turn begins with, and how models are told how
// much to think.
#include "chat/turns.h"

#include <string>

#include <gtest/gtest.h>

#include "chat/thinking.h"
#include "chat/tiny_language.h"
#include "formats/open.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using Json = ChatRequest::Json;

class Turns : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = open_tensor_file(test::write_tiny_language(folder_ / "tiny.gguf"));
    ASSERT_TRUE(file) << file.error().message;
    auto prompt = ChatPrompt::read(*file);
    ASSERT_TRUE(prompt) << prompt.error().message;
    prompt_ = std::make_unique<ChatPrompt>(*std::move(prompt));
  }

  // A conversation of so many turns with calls in them.
  static ChatRequest conversation(int turns) {
    ChatRequest request;
    request.messages = {{{"role", "system"}, {"content", "Be kind."}}};
    for (int i = 0; i < turns; ++i) {
      request.messages.push_back({{"role", "user"}, {"content", "Question " + std::to_string(i)}});
      request.messages.push_back({{"role", "assistant"}, {"content", "I look."}});
      request.messages.push_back({{"role", "tool"}, {"content", "found"}});
      request.messages.push_back({{"role", "assistant"}, {"content", "It is so."}});
    }
    request.messages.push_back({{"role", "user"}, {"content", "And now?"}});
    return request;
  }

  [[nodiscard]] Shortened shortened(const ChatRequest& request, int64_t context,
                                    int64_t room) const {
    auto whole = prompt_->render(request);
    EXPECT_TRUE(whole);
    auto left = shorten(*prompt_, request, *std::move(whole), context, room);
    EXPECT_TRUE(left);
    return *std::move(left);
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<ChatPrompt> prompt_;
};

TEST_F(Turns, WhatHasRoomStays) {
  const ChatRequest request = conversation(3);
  const Shortened all = shortened(request, 4000, 100);
  EXPECT_EQ(all.left_out, 0);
  EXPECT_EQ(all.messages, request.messages);
}

TEST_F(Turns, TheOldestAreLeftOutWholeAndAsFewTimesAsCanBe) {
  constexpr int64_t kContext = 1500;
  constexpr int64_t kRoom = 100;
  Json last_beginning;
  int changes = 0;
  for (int turns = 1; turns < 60; ++turns) {
    const ChatRequest request = conversation(turns);
    const Shortened left = shortened(request, kContext, kRoom);
    ASSERT_LE(std::ssize(left.prompt.tokens) + kRoom, kContext) << turns;
    ASSERT_EQ(left.messages[0], request.messages[0]);
    ASSERT_EQ(left.messages[1]["role"], "user");
    ASSERT_EQ(left.messages.back(), request.messages.back());
    ASSERT_EQ(left.left_out, std::ssize(request.messages) - std::ssize(left.messages));
    ASSERT_EQ(left.left_out % 4, 0);  // messages of a turn
    // Not less than half of what there is room for is used.
    if (left.left_out > 0) {
      ASSERT_GT(std::ssize(left.prompt.tokens), kContext / 2) << turns;
    }
    changes += left.messages[1] != last_beginning ? 1 : 0;
    last_beginning = left.messages[1];
  }
  EXPECT_GT(changes, 3);
  EXPECT_LT(changes, 20);
}

TEST_F(Turns, TheLastTurnStaysWhateverItsLength) {
  ChatRequest request = conversation(5);
  request.messages.back()["content"] = std::string(3000, 'x');
  const Shortened left = shortened(request, 1000, 50);
  ASSERT_EQ(left.messages.size(), 2U);
  EXPECT_EQ(left.messages[1], request.messages.back());
  EXPECT_GT(left.prompt.tokens.size(), 1000U);
}

TEST_F(Turns, TheNextBeginsWithWhatTheTemplateMakesOfThisOne) {
  ChatRequest request = conversation(1);
  const auto beginning = beginning_of_next_turn(*prompt_, request, "Yes.");
  request.messages.push_back({{"role", "assistant"}, {"content", "Yes."}});
  request.messages.push_back({{"role", "user"}, {"content", "Why?"}});
  const auto next = prompt_->render(request);
  ASSERT_TRUE(next);
  ASSERT_LT(beginning.size(), next->tokens.size());
  EXPECT_TRUE(std::equal(beginning.begin(), beginning.end(), next->tokens.begin()));
  const auto rest = std::ssize(next->tokens) - std::ssize(beginning);
  EXPECT_LT(rest, 40);  // the question and what begins the reply
  request.messages.push_back({{"role", "refused"}, {"content", ""}});
  EXPECT_TRUE(beginning_of_next_turn(*prompt_, request, "Yes.").empty());
}

using Effort = Thinking::Effort;

ThinkingPlan plan(const std::string& source, Thinking thinking) {
  return plan_thinking(thinking, source, thought_markers(source, reply_format_of_template(source)));
}

TEST(ThinkingPlan, ATemplateThatCanBeToldIsTold) {
  const std::string qwen =
      "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>{% endif "
      "%}";
  const ThinkingPlan off = plan(qwen, {.effort = Effort::None});
  EXPECT_EQ(off.template_arguments, (Json{{"enable_thinking", false}}));
  EXPECT_EQ(off.most_tokens, -1);
  EXPECT_EQ(plan(qwen, {.most_tokens = 0}).template_arguments, (Json{{"enable_thinking", false}}));
  const ThinkingPlan low = plan(qwen, {.effort = Effort::Low});
  EXPECT_EQ(low.template_arguments, (Json{{"enable_thinking", true}}));
  EXPECT_GT(low.most_tokens, 0);
  EXPECT_EQ(plan(qwen, {.effort = Effort::High}).most_tokens, -1);
  EXPECT_EQ(plan(qwen, {.effort = Effort::Low, .most_tokens = 70}).most_tokens, 70);
  const ThinkingPlan none = plan(qwen, {});
  EXPECT_TRUE(none.template_arguments.empty());
  EXPECT_EQ(none.most_tokens, -1);
}

TEST(ThinkingPlan, EffortsGoToTemplatesThatKnowThem) {
  const std::string gpt_oss =
      "{{- \"Reasoning: \" + reasoning_effort }}<|channel|>analysis<|message|>";
  const ThinkingPlan high = plan(gpt_oss, {.effort = Effort::High});
  EXPECT_EQ(high.template_arguments, (Json{{"reasoning_effort", "high"}}));
  EXPECT_EQ(high.most_tokens, -1);
  const ThinkingPlan off = plan(gpt_oss, {.effort = Effort::None});
  EXPECT_EQ(off.template_arguments, (Json{{"reasoning_effort", "low"}}));
  EXPECT_EQ(off.most_tokens, 0);  // it cannot be told to leave it out
}

TEST(ThinkingPlan, OthersHaveABudget) {
  const std::string r1 = "{{ '<|Assistant|><think>\\n' }}";
  EXPECT_EQ(plan(r1, {.effort = Effort::None}).most_tokens, 0);
  EXPECT_GT(plan(r1, {.effort = Effort::Medium}).most_tokens,
            plan(r1, {.effort = Effort::Low}).most_tokens);
  EXPECT_TRUE(plan(r1, {.effort = Effort::Low}).template_arguments.empty());
}

TEST(ThinkingPlan, AModelThatDoesNotThinkSaysSo) {
  // The name alone, in a text or as a member, is not what the template can be told.
  const std::string plain =
      "I am thinking. {{ message.thinking }}{{ message['enable_thinking'] }}{{ messages }}";
  const ThinkingPlan much = plan(plain, {.effort = Effort::High});
  ASSERT_EQ(much.notes.size(), 1U);
  EXPECT_EQ(much.notes[0].code, "does_not_think");
  EXPECT_TRUE(much.template_arguments.empty());
  EXPECT_TRUE(plan(plain, {.effort = Effort::None}).notes.empty());
}

}  // namespace
}  // namespace mynah
