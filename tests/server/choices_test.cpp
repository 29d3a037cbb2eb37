// Several replies to one request, which are written side by side.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/chat_server.h"

namespace mynah::server {
namespace {

using test::ChatServer;
using test::kLamp;
using test::OrderedJson;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// With words that differ with the seed.
std::string freely(const std::string& more) {
  return R"({"messages": [{"role": "user", "content": "Say something, and say it well."}],
             "temperature": 3, "top_k": 0, "min_p": 0, "presence_penalty": 1, )" +
         more + "}";
}

TEST_F(ChatServer, ChoicesAreThoseOfEachSeedAlone) {
  serve(chat_options());
  constexpr int kChoices = 10;  // more than are written at once
  const OrderedJson all = told(
      "/v1/chat/completions", freely(R"("n": 10, "seed": 40, "max_tokens": 15, "logprobs": true)"));
  ASSERT_TRUE(all.contains("choices")) << all.dump();
  ASSERT_EQ(all["choices"].size(), kChoices);
  std::set<std::string> contents;
  int64_t written = 0;
  for (int i = 0; i < kChoices; ++i) {
    const OrderedJson& choice = all["choices"][static_cast<size_t>(i)];
    EXPECT_EQ(choice["index"], i);
    const OrderedJson alone =
        told("/v1/chat/completions",
             freely(R"("max_tokens": 15, "logprobs": true, "seed": )" + std::to_string(40 + i)));
    EXPECT_EQ(choice["message"], alone["choices"][0]["message"]);
    EXPECT_EQ(choice["logprobs"], alone["choices"][0]["logprobs"]) << "bit for bit";
    EXPECT_EQ(choice["finish_reason"], alone["choices"][0]["finish_reason"]);
    EXPECT_EQ(all["usage"]["prompt_tokens"], alone["usage"]["prompt_tokens"]);
    written += alone["usage"]["completion_tokens"].get<int64_t>();
    contents.insert(choice["message"].dump());
  }
  EXPECT_EQ(contents.size(), kChoices);
  EXPECT_EQ(all["usage"]["completion_tokens"], written);
}

TEST_F(ChatServer, ChoicesOfAStreamAreThoseOfTheWholeAnswer) {
  serve(chat_options());
  const std::string asked =
      R"("n": 3, "seed": 4, "max_tokens": 30, "stop": ["z"], "logit_bias": {"260": -100})";
  const OrderedJson whole = told("/v1/chat/completions", freely(asked));
  ASSERT_TRUE(whole.contains("choices")) << whole.dump();
  std::map<int, std::string> said;
  std::map<int, std::string> ended;
  OrderedJson usage;
  for (const OrderedJson& part :
       events(freely(asked + R"(, "stream": true, "stream_options": {"include_usage": true})"))) {
    for (const OrderedJson& one : part["choices"]) {
      const int index = one["index"].get<int>();
      EXPECT_FALSE(ended.contains(index)) << part.dump();
      EXPECT_EQ(!said.contains(index), one["delta"].contains("role")) << part.dump();
      said[index] +=
          one["delta"].value("content", "") + one["delta"].value("reasoning_content", "");
      if (!one["finish_reason"].is_null()) {
        ended[index] = one["finish_reason"].get<std::string>();
      }
    }
    usage = part["usage"];
  }
  for (int i = 0; i < 3; ++i) {
    const OrderedJson& choice = whole["choices"][static_cast<size_t>(i)];
    const OrderedJson& message = choice["message"];
    EXPECT_EQ(said[i],
              message.value("reasoning_content", "") + message["content"].get<std::string>());
    EXPECT_EQ(ended[i], choice["finish_reason"].get<std::string>());
  }
  usage.erase("prompt_tokens_details");
  OrderedJson usage_of_whole = whole["usage"];
  usage_of_whole.erase("prompt_tokens_details");
  EXPECT_EQ(usage, usage_of_whole);
}

TEST_F(ChatServer, EachChoiceKeepsToTheForm) {
  serve(chat_options());
  const OrderedJson all =
      told("/v1/chat/completions",
           freely(
               R"("n": 4, "seed": 1, "max_tokens": 200, "response_format": {"type": "json_schema",
             "json_schema": {"name": "x", "schema": {"type": "object", "properties":
             {"a": {"type": "integer", "maximum": 99, "minimum": 0}}, "required": ["a"],
             "additionalProperties": false}}})"));
  ASSERT_TRUE(all.contains("choices")) << all.dump();
  for (const OrderedJson& choice : all["choices"]) {
    const auto said = OrderedJson::parse(choice["message"]["content"].get<std::string>());
    EXPECT_TRUE(said["a"].is_number_integer()) << choice.dump();
  }
  const OrderedJson calls = told(
      "/v1/chat/completions", conversation(R"("n": 4, "max_tokens": 300, "tool_choice": "required",
                                              "tools": [)" +
                                           std::string(kLamp) + "]"));
  ASSERT_TRUE(calls.contains("choices")) << calls.dump();
  std::set<std::string> ids;
  for (const OrderedJson& choice : calls["choices"]) {
    ASSERT_EQ(choice["finish_reason"], "tool_calls") << choice.dump();
    const OrderedJson& call = choice["message"]["tool_calls"][0];
    EXPECT_EQ(OrderedJson::parse(call["function"]["arguments"].get<std::string>())["lamp"], "hall");
    ids.insert(call["id"].get<std::string>());
  }
  EXPECT_EQ(ids.size(), 4U) << "a call's id is its own";
}

// A prompt of several that has no room is told before anything is written to the others.
TEST_F(ChatServer, OneOfSeveralPromptsThatHasNoRoomRefusesAll) {
  serve(chat_options());
  const std::string refused =
      post("/v1/completions", R"({"prompt": ["Once", ")" + std::string(20000, 'a') +
                                  R"("], "n": 2, "max_tokens": 3, "stream": true})");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(refused, HasSubstr(R"("code":"context_length_exceeded")"));
  EXPECT_THAT(refused, HasSubstr(R"("param":"prompt")"));
}

}  // namespace
}  // namespace mynah::server
