// Tools in words, for models whose chat template knows none.
#include "chat/tools_in_words.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mynah {
namespace {

using Json = ChatRequest::Json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Json kToldTools = Json::parse(
    R"([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}])");

Json messages(const char* text) {
  return Json::parse(text);
}

std::string content(const Json& message) {
  return message["content"].get<std::string>();
}

TEST(ToolsInWords, StandBehindWhatTheSystemSays) {
  const Json told = tools_in_words(
      messages(
          R"([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}])"),
      kToldTools, {});
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(content(told[0]), StartsWith("Be kind.\n\nYou can call functions."));
  EXPECT_THAT(content(told[0]), HasSubstr(R"({"name":"weather","parameters":{"type":"object"}})"));
  EXPECT_EQ(content(told[1]), "Hi.");
}

TEST(ToolsInWords, AreTheSystemsOrTheFirstUsersWhereItSaysNothing) {
  const Json hi = messages(R"([{"role": "user", "content": "Hi."}])");
  const Json by_system = tools_in_words(hi, kToldTools, {});
  ASSERT_EQ(by_system.size(), 2U);
  EXPECT_EQ(by_system[0]["role"], "system");
  const Json by_user = tools_in_words(hi, kToldTools, {.system = false});
  ASSERT_EQ(by_user.size(), 1U);
  EXPECT_THAT(content(by_user[0]), StartsWith("You can call functions."));
  EXPECT_THAT(content(by_user[0]), EndsWith("\n\nHi."));
}

TEST(ToolsInWords, CallsStayWhereTheTemplateTakesThem) {
  const Json called = messages(
      R"([{"role": "system", "content": ""},
          {"role": "assistant", "content": "", "tool_calls": [
            {"id": "a", "function": {"name": "weather", "arguments": {}}}]},
          {"role": "tool", "tool_call_id": "a", "content": "rain"}])");
  const Json told = tools_in_words(called, kToldTools, {.calls = true});
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[1], called[1]);
  EXPECT_EQ(told[2], called[2]);
  EXPECT_EQ(tools_in_words(called, Json::array(), {.calls = true}), called);
}

TEST(ToolsInWords, CallsAndResultsAreTextInTurns) {
  const Json told = tools_in_words(messages(
                                       R"([{"role": "user", "content": "Rome?"},
              {"role": "assistant", "content": "I ask.", "tool_calls": [
                {"id": "a", "function": {"name": "weather", "arguments": {"city": "Rome"}}},
                {"id": "b", "function": {"name": "time", "arguments": {}}}]},
              {"role": "tool", "tool_call_id": "a", "content": "rain"},
              {"role": "tool", "tool_call_id": "b", "content": "noon"},
              {"role": "user", "content": "And now?"},
              {"role": "assistant", "content": "It rains."}])"),
                                   Json::array(), {});
  ASSERT_EQ(told.size(), 4U) << told.dump();
  EXPECT_EQ(content(told[1]),
            "I ask.\n\n{\"name\":\"weather\",\"arguments\":{\"city\":\"Rome\"}}\n\n"
            "{\"name\":\"time\",\"arguments\":{}}");
  EXPECT_FALSE(told[1].contains("tool_calls"));
  EXPECT_EQ(told[2]["role"], "user");
  EXPECT_EQ(content(told[2]),
            "The function weather answered: rain\n\nThe function time answered: noon\n\nAnd now?");
  EXPECT_EQ(content(told[3]), "It rains.");
}

// As many as a request may have: each was copied with all before it, for minutes.
TEST(ToolsInWords, AHundredThousandCallsAndResultsAreTwoMessages) {
  constexpr size_t kMany = 100'000;
  const Json call = {{"function", {{"name", "f"}, {"arguments", Json::object()}}}};
  Json many = {{{"role", "assistant"}, {"content", ""}, {"tool_calls", Json::array()}}};
  many[0]["tool_calls"].get_ref<Json::array_t&>().assign(kMany, call);
  for (size_t i = 0; i < kMany; ++i) {
    many.push_back({{"role", "tool"}, {"content", "done"}});
  }
  const Json told = tools_in_words(many, Json::array(), {});
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(content(told[0]).size(),
            kMany * std::string_view(R"({"name":"f","arguments":{}})").size() + 2 * (kMany - 1));
  EXPECT_EQ(content(told[1]).size(),
            kMany * std::string_view("The function answered: done").size() + 2 * (kMany - 1));
}

}  // namespace
}  // namespace mynah
