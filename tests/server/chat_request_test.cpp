// What clients ask language models, as it is read, and what calls their replies have.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/chat/completion_request.h"
#include "server/chat/content_calls.h"
#include "server/compat/ollama_request.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using Object = nlohmann::ordered_json;

constexpr const char* kTool =
    R"({"type": "function", "function": {"name": "turn_on", "parameters":
        {"type": "object", "properties": {"lamp": {"$ref": "#/$defs/lamp"}},
         "$defs": {"lamp": {"enum": ["hall", "desk"]}}}}})";

std::expected<CompletionRequest, FieldError> chat_of(const std::string& more) {
  const std::string text = R"({"messages": [{"role": "user", "content": "Hi."}])" +
                           (more.empty() ? more : ", " + more) + "}";
  return parse_chat_completion(SentJson(text));
}

TEST(ChatRequest, IsReadAsOpenAisClientsSendIt) {
  const auto request = chat_of(
      R"("model": "gpt-4o", "stream": true, "stream_options": {"include_usage": true},
         "temperature": 0, "top_p": 0.5, "presence_penalty": 1, "frequency_penalty": -1,
         "repetition_penalty": 1.5, "logit_bias": {"7": -100, "3": 2}, "seed": 42,
         "stop": ["a", "b"], "max_tokens": 5, "max_completion_tokens": 9, "n": 3,
         "logprobs": true, "top_logprobs": 4, "reasoning_effort": "none", "user": "cat",
         "chat_template_kwargs": {"x": 1}, "parallel_tool_calls": false, "unknown": 1)");
  ASSERT_TRUE(request) << request.error().error.message;
  EXPECT_EQ(request->model, "gpt-4o");
  EXPECT_TRUE(request->stream && request->with_usage && request->chat.one_call);
  EXPECT_EQ(request->replies, 3);
  const ReplyChoice& choice = request->chat.choice;
  EXPECT_EQ(choice.sampling.temperature, 0);
  EXPECT_EQ(choice.sampling.top_p, 0.5F);
  EXPECT_EQ(choice.sampling.presence_penalty, 1);
  EXPECT_EQ(choice.sampling.frequency_penalty, -1);
  EXPECT_EQ(choice.sampling.repetition_penalty, 1.5F);
  EXPECT_EQ(choice.seed, 42U);
  EXPECT_EQ(choice.most_tokens, 9);
  EXPECT_EQ(choice.alternatives, 4);
  EXPECT_THAT(choice.stops, testing::ElementsAre("a", "b"));
  const auto& bias = choice.sampling.logit_bias;
  ASSERT_EQ(bias.size(), 2U);
  EXPECT_EQ(bias[0].token, 7);
  EXPECT_LT(bias[0].bias, -1000) << "the least is a ban";
  EXPECT_TRUE(std::isfinite(bias[0].bias)) << "of tokens that are all banned one comes still";
  EXPECT_EQ(bias[1].token, 3);
  EXPECT_EQ(bias[1].bias, 2);
  EXPECT_EQ(request->chat.thinking.effort, Thinking::Effort::None);
  EXPECT_EQ(request->chat.template_arguments["x"], 1);
  EXPECT_THAT(request->chat.conversation, HasSubstr("cat"));
}

TEST(ChatRequest, MessagesAreThoseOfAConversation) {
  const auto fault = [](const std::string& messages) {
    const auto request = parse_chat_completion(SentJson(R"({"messages": )" + messages + "}"));
    EXPECT_TRUE(request || request.error().field == "messages");
    return request ? std::string() : request.error().error.message;
  };
  const std::string called =
      R"([{"role": "user", "content": ""}, {"role": "assistant", "content": null, "tool_calls":
          [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]})";
  const std::string result = R"(, {"role": "tool", "tool_call_id": "a", "content": "b"})";
  EXPECT_EQ(fault(called + result + result + R"(, {"role": "developer", "content": "c"}])"), "");
  EXPECT_THAT(fault(called + R"(, {"role": "user", "content": "c"})" + result + "]"),
              HasSubstr("messages[3]: wanted an assistant's message with tool_calls"));
  EXPECT_THAT(fault("[" + result.substr(2) + "]"), HasSubstr("messages[0]: wanted an assistant's"));
  EXPECT_THAT(fault(R"([{"role": "king", "content": "a"}])"), HasSubstr("wanted an object with the "
                                                                        "role system, developer"));
  EXPECT_THAT(fault(R"([{"content": "a"}])"), HasSubstr("role"));
  EXPECT_EQ(fault(R"([{"role": "user"}])"), "messages[0]: wanted a content, found none");
  EXPECT_THAT(fault(R"([{"role": "system", "content": null}])"), HasSubstr("wanted a content"));
  EXPECT_THAT(parse_ollama_chat(SentJson(R"({"messages": [{"role": "king", "content": "a"}]})"))
                  .error()
                  .error.message,
              HasSubstr("messages[0]: wanted an object with the role"));
}

TEST(ChatRequest, HasMynahsOwnChoiceWhereNoneIsSaid) {
  const auto request = chat_of("");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->chat.choice.sampling.temperature, 0.7F);
  EXPECT_EQ(request->chat.choice.most_tokens, 0);
  EXPECT_EQ(request->chat.choice.alternatives, -1);
  EXPECT_NE(request->chat.choice.seed, chat_of("")->chat.choice.seed) << "another each time";
  EXPECT_NE(request->chat.choice.seed, chat_of(R"("seed": -1)")->chat.choice.seed);
  EXPECT_FALSE(request->chat.constraint);
}

TEST(ChatRequest, HowMuchIsThoughtIsSaidInSeveralWays) {
  using Effort = Thinking::Effort;
  const auto thinking = [](const std::string& more) {
    const auto request = chat_of(more);
    EXPECT_TRUE(request) << request.error().error.message;
    return request ? request->chat.thinking : Thinking();
  };
  EXPECT_EQ(thinking(R"("n": 1)").effort, Effort::AsTaught);
  EXPECT_EQ(thinking(R"("n": 1)").most_tokens, -1);
  EXPECT_EQ(thinking(R"("reasoning_effort": "xhigh")").effort, Effort::High);
  const Thinking both = thinking(R"("reasoning": {"effort": "low", "max_tokens": 500})");
  EXPECT_EQ(both.effort, Effort::Low);
  EXPECT_EQ(both.most_tokens, 500);
  EXPECT_EQ(thinking(R"("reasoning": {"enabled": false})").effort, Effort::None);
  EXPECT_EQ(thinking(R"("thinking_budget": 7, "reasoning": {"max_tokens": 9})").most_tokens, 7);
  EXPECT_EQ(chat_of(R"("truncation": "auto")")->chat.too_long, TooLong::LeaveOut);
  EXPECT_EQ(chat_of(R"("truncation": "disabled")")->chat.too_long, TooLong::Refuse);
}

TEST(ChatRequest, OwnersAreToldApartWhateverTheyAreCalled) {
  const auto owner = [](const std::string& user, const std::string& key) {
    const Object said = {{"user", user}, {"prompt_cache_key", key}};
    const std::string text = said.dump();
    return chat_of(text.substr(1, text.size() - 2))->chat.conversation;
  };
  EXPECT_EQ(owner("a", "b"), owner("a", "b"));
  EXPECT_NE(owner("a", "b"), owner("ab", ""));
  EXPECT_NE(owner("a", "b"), owner("", "ab"));
  EXPECT_NE(owner("a\",\"b", ""), owner("a", "b"));
}

TEST(ChatRequest, WhatCannotBeDoneIsRefusedWithItsField) {
  struct Case {
    const char* more;
    const char* field;
    const char* said;
  };

  const std::string tools = std::string(R"("tools": [)") + kTool + "]";
  const std::string tools_and_grammar = tools + R"(, "grammar": "root ::= \"a\"")";
  const std::string tools_and_nobody =
      tools + R"(, "tool_choice": {"type": "function", "function": {"name": "nobody"}})";
  for (const Case& one : std::vector<Case>{
           {R"("n": 0)", "n", "from 1 to 128"},
           {R"("max_tokens": 0)", "max_tokens", "wanted 1 at least"},
           {R"("stop": [1])", "stop", "a list of 16"},
           {R"("logit_bias": {"x": 1})", "logit_bias", "a token's number"},
           {R"("logit_bias": {"07": 1})", "logit_bias", "a token's number"},
           {R"("logit_bias": {"7": 101})", "logit_bias", "from -100 to 100"},
           {R"("top_logprobs": 3)", "top_logprobs", "logprobs true"},
           {R"("tools": [{"name": "f"}])", "tools", "tools[0]: wanted"},
           {R"("tool_choice": "required")", "tool_choice", "found none"},
           {R"("tool_choice": "perhaps")", "tool_choice", "wanted none, auto, required"},
           {R"("response_format": {"type": "xml"})", "response_format",
            "json_schema, found \"xml\""},
           {R"("response_format": {"type": "json_schema"})", "response_format", "wanted a JSON"},
           {R"("reasoning": {"effort": "much"})", "reasoning.effort", "found 'much'"},
           {R"("reasoning": 1)", "reasoning", "wanted an object"},
           {R"("truncation": "some")", "truncation", "some"},
           {R"("chat_template_kwargs": 3)", "chat_template_kwargs", "wanted an object"},
           {R"("grammar": "a", "json_schema": {})", "grammar", "wanted one of"},
           {tools_and_grammar.c_str(), "tools", "in place of the grammar"},
           {tools_and_nobody.c_str(), "tool_choice", "no tool is called \"nobody\""}}) {
    const auto request = chat_of(one.more);
    ASSERT_FALSE(request) << one.more;
    EXPECT_EQ(request.error().field, one.field) << one.more;
    EXPECT_THAT(request.error().error.message, HasSubstr(one.said)) << one.more;
  }
  EXPECT_EQ(parse_chat_completion(SentJson(R"({"messages": []})")).error().field, "messages");
  EXPECT_EQ(parse_completion(SentJson(R"({"prompt": [1, 2]})")).error().field, "prompt");
}

TEST(ChatRequest, WhatIsLongIsRefusedInAFewWords) {
  std::string tools = kTool;
  for (int i = 0; i < 1000; ++i) {
    tools += std::string(", ") + kTool;
  }
  const std::string name(10'000, 'a');

  struct Case {
    std::string more;
    const char* said;
  };

  for (const Case& one : std::vector<Case>{
           {R"("tools": [)" + tools + "]", "tools: wanted at most 1000, found 1001"},
           {R"("response_format": {"type": ")" + name + "\"}", "wanted text, json_object"},
           {std::string(R"("tools": [)") + kTool + R"(], "tool_choice": {"name": ")" + name + "\"}",
            "no tool is called"}}) {
    const auto request = chat_of(one.more);
    ASSERT_FALSE(request) << one.said;
    EXPECT_THAT(request.error().error.message, HasSubstr(one.said));
    EXPECT_LT(request.error().error.message.size(), 300U);
  }
}

TEST(AnswerRules, ACallThatMustComeIsTheModelsOwn) {
  const std::string tools = std::string(R"("tools": [)") + kTool + "]";
  const auto request = chat_of(R"("tool_choice": "required", )" + tools);
  ASSERT_TRUE(request) << request.error().error.message;
  EXPECT_EQ(request->rules.content, ContentIs::Text);
  EXPECT_EQ(request->chat.must_call, "");
  EXPECT_FALSE(request->chat.constraint);
  const auto named = chat_of(R"("tool_choice": {"name": "turn_on"}, )" + tools);
  ASSERT_TRUE(named) << named.error().error.message;
  EXPECT_EQ(named->chat.must_call, "turn_on");
  EXPECT_FALSE(chat_of(tools)->chat.must_call);
}

TEST(AnswerRules, AnAnswerThatIsBoundMayStillBeACall) {
  const std::string format =
      R"("response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true,
         "schema": {"type": "object", "properties": {"a": {"type": "integer"}},
                    "required": ["a"], "additionalProperties": false}}})";
  const auto alone = chat_of(format);
  ASSERT_TRUE(alone) << alone.error().error.message;
  EXPECT_TRUE(alone->chat.constraint->schema.strict);
  EXPECT_EQ(alone->rules.content, ContentIs::Text);
  const auto both = chat_of(format + R"(, "tools": [)" + kTool + "]");
  ASSERT_TRUE(both) << both.error().error.message;
  EXPECT_EQ(both->rules.content, ContentIs::CallOrAnswer);
  const Object schema = Object::parse(both->chat.constraint->text);
  ASSERT_EQ(schema["anyOf"].size(), 2U);
  EXPECT_EQ(schema["anyOf"][0]["properties"]["name"]["const"], "turn_on");
  EXPECT_EQ(schema["anyOf"][0]["properties"]["arguments"]["$ref"], "#/$defs/s0");
  EXPECT_EQ(schema["$defs"]["s0"]["properties"]["lamp"]["$ref"], "#/$defs/s0/$defs/lamp");
  EXPECT_TRUE(grammar::grammar_of(*both->chat.constraint));
  const auto none = chat_of(format + R"(, "tool_choice": "none", "tools": [)" + kTool + "]");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->rules.content, ContentIs::Text);
  EXPECT_TRUE(none->chat.tools.empty()) << "the model is not shown what it may not call";
}

// What is told of a content that comes in pieces of so many bytes.
ReplyMessage told(ContentIs content, const std::string& text, size_t piece) {
  ContentCalls calls(content, {"turn_on", "turn_off"}, "call_1");
  ReplyMessage message;
  const auto take = [&message](const ReplyDelta& said) {
    message.content += said.content;
    for (const CallDelta& call : said.calls) {
      EXPECT_EQ(call.index, 0U);
      if (message.calls.empty()) {
        EXPECT_FALSE(call.name.empty()) << "a call begins with its name";
        message.calls.emplace_back();
      }
      message.calls[0].id += call.id;
      message.calls[0].name += call.name;
      message.calls[0].arguments += call.arguments;
    }
  };
  for (size_t at = 0; at < text.size(); at += piece) {
    take(calls.take({.content = text.substr(at, piece), .reasoning = {}, .calls = {}}));
  }
  take(calls.finish());
  return message;
}

TEST(ContentCalls, AnyCutGivesTheSameMessage) {
  struct Case {
    const char* content;
    const char* name;  // "": it is no call
    const char* arguments;
  };

  for (const Case& one : std::vector<Case>{
           {R"({"name":"turn_on","arguments":{"lamp":"a}b"}})", "turn_on", R"({"lamp":"a}b"})"},
           {"{ \"name\" : \"turn_off\",\n \"arguments\": {}\n}\n", "turn_off", "{}\n"},
           {R"({"name":"turn_on","arguments":{"a":{"b":1}}})", "turn_on", R"({"a":{"b":1}})"},
           {R"({"name":"turn_on","arguments":{"a":1)", "turn_on", R"({"a":1)"},
           {R"({"name":"turn_on","arguments":{"a":{"b":1}})", "turn_on", R"({"a":{"b":1}})"},
           {R"({"name":"turn_around","arguments":{}})", "", ""},
           {R"({"answer": 3})", "", ""},
           {R"({"na)", "", ""},
           {"", "", ""}}) {
    const std::string content = one.content;
    for (size_t piece = 1; piece <= content.size() + 1; ++piece) {
      const ReplyMessage message = told(ContentIs::CallOrAnswer, content, piece);
      if (*one.name == '\0') {
        EXPECT_TRUE(message.calls.empty()) << content;
        EXPECT_EQ(message.content, content);
        continue;
      }
      ASSERT_EQ(message.calls.size(), 1U) << content << " in pieces of " << piece;
      EXPECT_EQ(message.content, "");
      EXPECT_EQ(message.calls[0].name, one.name);
      EXPECT_EQ(message.calls[0].id, "call_1");
      EXPECT_EQ(message.calls[0].arguments, one.arguments) << piece;
    }
  }
  EXPECT_EQ(told(ContentIs::Text, R"({"name":"turn_on","arguments":{}})", 3).content,
            R"({"name":"turn_on","arguments":{}})");
}

TEST(OllamaRequest, IsReadAsHomeAssistantSendsIt) {
  const auto request = parse_ollama_chat(SentJson(
      R"({"model": "qwen3:4b", "stream": true, "think": false, "keep_alive": "-1s",
          "options": {"num_ctx": 8192, "num_predict": 100, "temperature": 0.2, "stop": "x",
                      "num_gpu": 4},
          "tools": [{"type": "function", "function": {"name": "HassTurnOn", "parameters": {}}}],
          "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"},
            {"role": "assistant", "content": "", "thinking": "T",
             "tool_calls": [{"function": {"name": "HassTurnOn", "arguments": {"a": 1}}}]},
            {"role": "tool", "content": "{}", "tool_name": "HassTurnOn"}]})"));
  ASSERT_TRUE(request) << request.error().error.message;
  EXPECT_FALSE(request->loads_only);
  EXPECT_EQ(request->context, 8192);
  const CompletionRequest& completion = request->completion;
  EXPECT_TRUE(completion.stream);
  EXPECT_EQ(completion.chat.choice.most_tokens, 100);
  EXPECT_EQ(completion.chat.choice.sampling.temperature, 0.2F);
  EXPECT_THAT(completion.ignored, testing::ElementsAre("options.num_gpu"));
  EXPECT_EQ(completion.chat.thinking.effort, Thinking::Effort::None);
  EXPECT_EQ(completion.chat.context, 8192);
  EXPECT_EQ(completion.chat.too_long, TooLong::LeaveOut);
  const Object& messages = completion.chat.messages;
  EXPECT_EQ(messages[2]["reasoning_content"], "T");
  EXPECT_EQ(messages[2]["tool_calls"][0]["id"], messages[3]["tool_call_id"]);
  EXPECT_EQ(messages[3]["name"], "HassTurnOn");
}

TEST(OllamaRequest, WantsNothingWrittenWhereNothingIsSaid) {
  EXPECT_TRUE(parse_ollama_chat(SentJson(R"({"model": "a"})"))->loads_only);
  EXPECT_TRUE(parse_ollama_generate(SentJson(R"({"model": "a", "prompt": ""})"))->loads_only);
  EXPECT_FALSE(parse_ollama_generate(SentJson(R"({"prompt": "a"})"))->loads_only);
}

TEST(OllamaRequest, WhatCannotBeDoneIsRefusedWithItsField) {
  const auto field_of = [](const char* text) {
    const auto request = parse_ollama_generate(SentJson(text));
    return request ? "none" : request.error().field;
  };
  EXPECT_EQ(field_of(R"({"prompt": "a", "suffix": "b"})"), "suffix");
  EXPECT_EQ(field_of(R"({"prompt": "a", "images": ["b"]})"), "images");
  EXPECT_EQ(field_of(R"({"prompt": "a", "think": "much"})"), "think");
  EXPECT_EQ(field_of(R"({"prompt": "a", "format": "xml"})"), "format");
  EXPECT_EQ(field_of(R"({"prompt": "a", "options": {"top_p": 2}})"), "top_p");
  EXPECT_EQ(field_of(R"({"prompt": "a", "suffix": "", "images": [], "format": ""})"), "none");
}

}  // namespace
}  // namespace mynah::server
