// A conversation out loud as a language model reads it, and what is asked of one.
#include "server/realtime/chat_messages.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/realtime/conversation.h"
#include "server/realtime/reply_wish.h"

namespace mynah::server {
namespace {

using OrderedItem = nlohmann::ordered_json;

OrderedItem said(const std::string& role, const std::string& text,
                 const std::string& status = "completed") {
  const bool by_assistant = role == "assistant";
  return {{"id", "i"},
          {"type", "message"},
          {"role", role},
          {"status", status},
          {"content", OrderedItem::array({{{"type", by_assistant ? "output_audio" : "input_audio"},
                                           {"transcript", text}}})}};
}

OrderedItem call(const std::string& id, const std::string& status = "completed") {
  return {{"type", "function_call"},
          {"call_id", id},
          {"name", "look_up"},
          {"arguments", "{}"},
          {"status", status}};
}

OrderedItem result(const std::string& id) {
  return {{"type", "function_call_output"}, {"call_id", id}, {"output", "of " + id}};
}

// Roles, contents, and how many calls each message has.
std::vector<std::string> told(const std::vector<OrderedItem>& items,
                              const std::string& instructions = "") {
  std::vector<std::string> all;
  for (const OrderedItem& message : chat_messages(items, instructions)) {
    std::string one =
        message["role"].get<std::string>() + ": " + message["content"].get<std::string>();
    if (message.contains("tool_calls")) {
      one += " +" + std::to_string(message["tool_calls"].size());
    }
    all.push_back(std::move(one));
  }
  return all;
}

TEST(ChatMessages, AreWhatWasSaidBehindTheInstructions) {
  EXPECT_THAT(
      told({said("user", "Hello."), said("assistant", "Hi."), said("user", "Bye.")}, "Be."),
      ::testing::ElementsAre("system: Be.", "user: Hello.", "assistant: Hi.", "user: Bye."));
  EXPECT_THAT(told({}, ""), ::testing::IsEmpty());
}

TEST(ChatMessages, WhatOneSideSaidInTurnsIsOne) {
  EXPECT_THAT(
      told({said("user", "I want"), said("assistant", "", "incomplete"), said("user", "a pizza."),
            said("assistant", "Which", "incomplete"), said("assistant", "one?")}),
      ::testing::ElementsAre("user: I want\na pizza.", "assistant: Which\none?"));
}

TEST(ChatMessages, SilenceIsToldAtTheEndAlone) {
  EXPECT_THAT(
      told({said("user", "Hello."), said("user", ""), said("assistant", "Hi."), said("user", "")}),
      ::testing::ElementsAre("user: Hello.", "assistant: Hi.", "user: ..."));
}

TEST(ChatMessages, ResultsStandBehindTheirCalls) {
  EXPECT_THAT(told({said("user", "Look."), said("assistant", "I look."), call("a"), call("b"),
                    said("user", "And?"), result("b"), result("a"), result("gone"),
                    call("broken", "incomplete"), result("broken")}),
              ::testing::ElementsAre("user: Look.", "assistant: I look. +2", "tool: of b",
                                     "tool: of a", "user: And?"));
}

TEST(ReplyWish, TakesTheFieldsOfASession) {
  const auto wish = written_wish(
      OrderedItem::parse(R"({"instructions": "Be.", "max_output_tokens": 30, "temperature": 0.2,
        "tool_choice": {"type": "function", "name": "look_up"}, "reasoning": {"effort": "low"},
        "tools": [{"type": "function", "name": "look_up", "parameters": {"type": "object"}},
                  {"type": "mcp", "server_label": "x"}]})"),
      "session.");
  ASSERT_TRUE(wish) << wish.error().error.message;
  EXPECT_EQ(wish->chat.choice.most_tokens, 30);
  EXPECT_FLOAT_EQ(wish->chat.choice.sampling.temperature, 0.2F);
  EXPECT_EQ(wish->chat.must_call, "look_up");
  EXPECT_EQ(wish->chat.tools.size(), 1U);
  EXPECT_EQ(wish->chat.thinking.effort, Thinking::Effort::Low);
  EXPECT_EQ(wish->chat.too_long, TooLong::LeaveOut);
  const auto usual = written_wish(
      OrderedItem::parse(R"({"max_output_tokens": "inf", "truncation": "disabled", "tools": null,
                             "tool_choice": {"type": "mcp", "server_label": "x"}})"),
      "session.");
  ASSERT_TRUE(usual) << usual.error().error.message;
  EXPECT_EQ(usual->chat.choice.most_tokens, 0);
  EXPECT_EQ(usual->chat.too_long, TooLong::Refuse);
  EXPECT_FALSE(usual->chat.must_call);
}

TEST(ReplyWish, NamesTheFieldThatIsWrong) {
  for (const auto& [fields, field] :
       {std::pair(R"({"tools": 5})", "response.tools"),
        std::pair(R"({"tools": [{"type": "function"}]})", "response.tools"),
        std::pair(R"({"tool_choice": "sometimes"})", "response.tool_choice"),
        std::pair(R"({"temperature": -1})", "response.temperature"),
        std::pair(R"({"max_output_tokens": 0})", "response.max_output_tokens"),
        std::pair(R"({"max_output_tokens": "many"})", "response.max_output_tokens"),
        std::pair(R"({"reasoning": {"effort": "huge"}})", "response.reasoning.effort")}) {
    const auto wish = written_wish(OrderedItem::parse(fields), "response.");
    ASSERT_FALSE(wish) << fields;
    EXPECT_EQ(wish.error().field, field);
    EXPECT_THAT(wish.error().error.message, ::testing::StartsWith("response."));
  }
}

TEST(Conversation, ATruncatedItemEndsWithTheLastWordThatWasHeard) {
  Conversation conversation;
  const OrderedItem whole = said("assistant", "One two three.");
  const std::vector<SaidWord> words = {
      {.end = 3, .middle_ms = 100}, {.end = 7, .middle_ms = 400}, {.end = 14, .middle_ms = 900}};
  const auto kept = [&conversation] { return text_of_item(*conversation.find("i")); };
  EXPECT_EQ(conversation.truncate("i", 0).error().code, ErrorCode::NotFound);
  ASSERT_TRUE(conversation.add(whole, ""));
  conversation.put_said(whole, words);
  ASSERT_TRUE(conversation.truncate("i", 5000));
  EXPECT_EQ(kept(), "One two three.");
  ASSERT_TRUE(conversation.truncate("i", 400));
  EXPECT_EQ(kept(), "One two");
  // What is said of it from then on was heard no more, nor does a later word bring words back.
  conversation.put_said(whole, words);
  ASSERT_TRUE(conversation.truncate("i", 5000));
  EXPECT_EQ(kept(), "One two");
  ASSERT_TRUE(conversation.truncate("i", 99));
  EXPECT_EQ(kept(), "");
}

}  // namespace
}  // namespace mynah::server
