// Language models over HTTP, by a tiny one: OpenAI's interface and ollama's.
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/chat_server.h"
#include "server/models/named_models.h"
#include "store/catalogue_language.h"
#include "store/store.h"

namespace mynah::server {
namespace {

using test::ChatServer;
using test::kLamp;
using test::OrderedJson;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(ChatServer, AStreamAndAWholeAnswerSayTheSame) {
  serve(chat_options());
  const OrderedJson whole = told("/v1/chat/completions", conversation(R"("max_tokens": 20)"));
  ASSERT_TRUE(whole.is_object());
  ASSERT_TRUE(whole.contains("choices")) << whole.dump();
  EXPECT_EQ(whole["object"], "chat.completion");
  EXPECT_EQ(whole["model"], "tiny");
  EXPECT_THAT(whole["id"].get<std::string>(), StartsWith("chatcmpl-"));
  const OrderedJson& choice = whole["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(whole["usage"]["completion_tokens"], 20);
  EXPECT_GT(whole["usage"]["prompt_tokens"], 10);

  const auto parts = events(conversation(
      R"("max_tokens": 20, "stream": true, "stream_options": {"include_usage": true})"));
  ASSERT_GT(parts.size(), 3U);
  EXPECT_EQ(parts[0]["object"], "chat.completion.chunk");
  EXPECT_EQ(parts[0]["choices"][0]["delta"]["role"], "assistant");
  std::string content;
  for (const OrderedJson& part : parts) {
    for (const OrderedJson& one : part["choices"]) {
      content += one["delta"].value("content", "");
    }
    EXPECT_EQ(part["id"], parts[0]["id"]);
  }
  EXPECT_EQ(content, choice["message"]["content"].get<std::string>());
  EXPECT_EQ(parts[parts.size() - 2]["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(parts.back()["choices"].empty());
  EXPECT_EQ(parts.back()["usage"]["completion_tokens"], 20);
  EXPECT_EQ(parts.back()["usage"]["total_tokens"],
            20 + parts.back()["usage"]["prompt_tokens"].get<int>());
}

TEST_F(ChatServer, AnAnswerNamesItsModelAndWhatDoesNothing) {
  serve(chat_options());
  const std::string answer = post(
      "/v1/chat/completions", conversation(R"("max_tokens": 2, "model": "qwen9", "store": true)"));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Model: tiny\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Device: llm=cpu\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Ignored: store, model\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Notes: other_model, ignored_fields\r\n"));
  const OrderedJson notes = OrderedJson::parse(test::body_of(answer))["mynah_notes"];
  EXPECT_EQ(notes[0]["text"].get<std::string>(), "there is no model qwen9 here, and tiny answers");
  EXPECT_EQ(notes[1]["text"].get<std::string>(),
            "fields of the request that do nothing here: store");
  EXPECT_THAT(
      post("/v1/chat/completions", conversation(R"("max_tokens": 2, "model": "gpt-4o-mini")")),
      AllOf(Not(HasSubstr("X-Mynah-Ignored")), Not(HasSubstr("mynah_notes"))));
  const std::string of_catalogue =
      post("/v1/chat/completions", conversation(R"("model": "smollm2", "max_token": 2)"));
  EXPECT_THAT(of_catalogue, HasSubstr("`mynah pull smollm2` brings it"));
  EXPECT_THAT(of_catalogue, HasSubstr("max_token (did you mean max_tokens?)"));
}

TEST_F(ChatServer, RefusesUnknownNamesWhereTheyAreStrict) {
  ServerOptions options = chat_options();
  options.service.strict = true;
  serve(std::move(options));
  const std::string answer =
      post("/v1/chat/completions", conversation(R"("max_tokens": 2, "model": "qwen9")"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer, HasSubstr(R"("code":"model_not_found")"));
  EXPECT_THAT(
      post("/v1/chat/completions", conversation(R"("max_tokens": 2, "model": "tiny:latest")")),
      StartsWith("HTTP/1.1 200"));
}

TEST_F(ChatServer, WhichOfSeveralModelsIsMeantIsSaidAtTheStart) {
  const auto said = [this](const ServiceOptions& options) {
    std::string all;
    engine::Surroundings listening = surroundings();
    listening.tell = [&](const engine::Note& note) { all += note.code + ": " + note.text + "\n"; };
    note_missing_models(options, listening);
    return all;
  };
  for (const char* const name : {"older", "newer"}) {
    EXPECT_THAT(said({}), Not(HasSubstr("default-model"))) << name;
    StoredModel model;
    model.name = name;
    model.family = kLanguageFamily;
    model.created = model.name == "newer" ? "2026-02-01T00:00:00Z" : "2026-01-01T00:00:00Z";
    model.folder = folder_ / ("home/models/" + model.name);
    model.sha256 = std::string(64, '0');
    ::mynah::test::write_file(model.path(), "no weights");
    ASSERT_TRUE(write_source_json(model));
  }
  EXPECT_THAT(said({}), HasSubstr("default-model: newer writes where a request names no model that "
                                  "is here, as the newest of the 2 that could"));
  ServiceOptions named;
  named.chat_model = "older";
  EXPECT_THAT(said(named), Not(HasSubstr("default-model")));
}

TEST_F(ChatServer, WhatHasNoRoomIsRefusedWithNumbers) {
  serve(chat_options());
  const std::string answer = post("/v1/chat/completions", conversation("", std::string(600, 'x')));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  const OrderedJson error = OrderedJson::parse(test::body_of(answer))["error"];
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_EQ(error["param"], "messages");
  EXPECT_THAT(error["message"].get<std::string>(),
              AllOf(HasSubstr("maximum context length is 512"), HasSubstr("trained for no more"),
                    Not(HasSubstr("--chat-context"))));
}

TEST_F(ChatServer, ATemplatesRefusalSaysItsLine) {
  serve(chat_options());
  const std::string answer =
      post("/v1/chat/completions", R"({"messages": [{"role": "function", "content": "a"}]})");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  const OrderedJson error = OrderedJson::parse(test::body_of(answer))["error"];
  EXPECT_EQ(error["param"], "messages");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("(line 3): nobody is called so"));
}

TEST_F(ChatServer, ArgumentsThatAreDeepStayAText) {
  serve(chat_options());
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string answer =
      post("/v1/chat/completions",
           R"({"max_tokens": 1, "messages": [{"role": "user", "content": "Hi."},
               {"role": "assistant", "tool_calls": [{"id": "a", "type": "function",
                "function": {"name": "f", "arguments": ")" +
               deep + R"("}}]}, {"role": "tool", "tool_call_id": "a", "content": "b"}]})");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

TEST_F(ChatServer, DevelopersSpeakAsTheSystemWhereTheTemplateKnowsNone) {
  serve(chat_options());
  const auto tokens = [this](const std::string& role) {
    const OrderedJson told =
        this->told("/v1/chat/completions", R"({"max_tokens": 1, "messages": [{"role": ")" + role +
                                               R"(", "content": "a"}]})");
    return told["usage"]["prompt_tokens"].get<int>();
  };
  EXPECT_EQ(tokens("developer"), tokens("system"));
  EXPECT_EQ(tokens("user"), tokens("system") - 2) << "others are told as they are";
}

TEST_F(ChatServer, AFormIsKeptToThoughAllOfItsTokensAreBanned) {
  serve(chat_options());
  OrderedJson all = OrderedJson::object();
  for (int token = 0; token < 263; ++token) {
    all[std::to_string(token)] = -100;
  }
  const std::string banned = R"("max_tokens": 3, "logit_bias": )" + all.dump();
  const OrderedJson whole =
      told("/v1/chat/completions", conversation(banned + R"(, "grammar": "root ::= \"7\"")"));
  ASSERT_TRUE(whole.contains("choices")) << whole.dump();
  EXPECT_EQ(whole["choices"][0]["message"]["content"], "7");
  EXPECT_THAT(post("/v1/chat/completions", conversation(banned)), StartsWith("HTTP/1.1 200"));
}

TEST_F(ChatServer, ACallThatMustComeComes) {
  serve(chat_options());
  const std::string more =
      std::string(R"("max_tokens": 200, "tool_choice": "required", "tools": [)") + kLamp + "]";
  const OrderedJson whole = told("/v1/chat/completions", conversation(more));
  ASSERT_TRUE(whole.contains("choices")) << whole.dump();
  const OrderedJson& choice = whole["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls") << choice.dump();
  EXPECT_TRUE(choice["message"]["content"].is_null());
  const OrderedJson& call = choice["message"]["tool_calls"][0];
  EXPECT_EQ(call["type"], "function");
  EXPECT_EQ(call["function"]["name"], "turn_on");
  EXPECT_EQ(OrderedJson::parse(call["function"]["arguments"].get<std::string>())["lamp"], "hall");

  std::string arguments;
  std::string name;
  for (const OrderedJson& part : events(conversation(more + R"(, "stream": true)"))) {
    for (const OrderedJson& delta :
         part["choices"][0]["delta"].value("tool_calls", OrderedJson::array())) {
      EXPECT_EQ(delta["index"], 0);
      EXPECT_EQ(delta.contains("id"), name.empty()) << "told once";
      name += delta["function"].value("name", "");
      arguments += delta["function"]["arguments"].get<std::string>();
    }
  }
  EXPECT_EQ(name, "turn_on");
  EXPECT_EQ(OrderedJson::parse(arguments)["lamp"], "hall");
}

TEST_F(ChatServer, ToolsAreToldInWordsWhereTheTemplateKnowsNone) {
  serve(options_without_tools());
  const std::string tools = std::string(R"("max_tokens": 200, "tools": [)") + kLamp + "]";
  const std::string answer = post("/v1/chat/completions", conversation(tools));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Notes: tools_told_in_words"));
  const OrderedJson told = OrderedJson::parse(test::body_of(answer));
  EXPECT_EQ(told["mynah_notes"][0]["code"], "tools_told_in_words");
  const OrderedJson alone = this->told("/v1/chat/completions", conversation(R"("max_tokens": 1)"));
  EXPECT_FALSE(alone.contains("mynah_notes"));
  EXPECT_GT(told["usage"]["prompt_tokens"].get<int>(),
            alone["usage"]["prompt_tokens"].get<int>() + std::ssize(std::string(kLamp)) / 2);
  const OrderedJson none =
      this->told("/v1/chat/completions", conversation(tools + R"(, "tool_choice": "none")"));
  EXPECT_EQ(none["usage"]["prompt_tokens"], alone["usage"]["prompt_tokens"]);

  const OrderedJson must =
      this->told("/v1/chat/completions", conversation(tools + R"(, "tool_choice": "required")"));
  EXPECT_EQ(must["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "turn_on")
      << must.dump();
  EXPECT_EQ(must["usage"]["prompt_tokens"], told["usage"]["prompt_tokens"]);
  EXPECT_EQ(must["mynah_notes"][0]["code"], "tools_told_in_words");
}

TEST_F(ChatServer, AnAnswerKeepsToItsSchemaWithAndWithoutTools) {
  serve(chat_options());
  const std::string format =
      R"("max_tokens": 200, "response_format": {"type": "json_schema", "json_schema": {"name": "x",
         "strict": true, "schema": {"type": "object", "properties": {"a": {"enum": [1, 2]}},
                                    "required": ["a"], "additionalProperties": false}}})";
  const OrderedJson alone = told("/v1/chat/completions", conversation(format));
  ASSERT_TRUE(alone.contains("choices")) << alone.dump();
  const OrderedJson answer = OrderedJson::parse(
      alone["choices"][0]["message"]["content"].get<std::string>(), nullptr, false);
  EXPECT_TRUE(answer["a"] == 1 || answer["a"] == 2) << alone.dump();
  const OrderedJson both =
      told("/v1/chat/completions", conversation(format + R"(, "tools": [)" + kLamp + "]"));
  ASSERT_TRUE(both.contains("choices")) << both.dump();
  const OrderedJson& message = both["choices"][0]["message"];
  const bool called = message.contains("tool_calls");
  const OrderedJson said = OrderedJson::parse(
      called ? message["tool_calls"][0]["function"]["arguments"].get<std::string>()
             : message["content"].get<std::string>());
  EXPECT_TRUE(said.contains(called ? "lamp" : "a")) << both.dump();

  const std::string refused = post(
      "/v1/chat/completions",
      conversation(R"("response_format": {"type": "json_schema", "json_schema": {"strict": true,
                      "schema": {"type": "object", "properties": {"a": {}}}}})"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(refused, HasSubstr(R"("param":"response_format")"));
}

TEST_F(ChatServer, ALaterCallOfAConversationHasAnIdOfItsOwn) {
  serve(chat_options());
  const auto call_behind = [this](const std::string& messages) {
    const OrderedJson told =
        this->told("/v1/chat/completions",
                   R"({"messages": [{"role": "user", "content": "Hi."})" + messages +
                       R"(], "seed": 1, "max_tokens": 200, "tool_choice": "required", "tools": [)" +
                       kLamp + "]}");
    return told["choices"][0]["message"]["tool_calls"][0];
  };
  const OrderedJson first = call_behind("");
  ASSERT_TRUE(first.contains("id")) << first.dump();
  EXPECT_EQ(call_behind("")["id"], first["id"]) << "the same request has the same answer";
  const OrderedJson later =
      call_behind(R"(, {"role": "assistant", "tool_calls": [)" + first.dump() +
                  R"(]}, {"role": "tool", "content": "It is on.", "tool_call_id": )" +
                  first["id"].dump() + "}");
  ASSERT_TRUE(later.contains("id")) << later.dump();
  EXPECT_NE(later["id"], first["id"]);
}

TEST_F(ChatServer, SeveralRepliesReadTheirPromptOnce) {
  serve(chat_options());
  const OrderedJson two =
      told("/v1/chat/completions",
           R"({"messages": [{"role": "user", "content": "Hi."}], "n": 2, "seed": 5,
                            "temperature": 3, "top_k": 0, "min_p": 0, "max_tokens": 12,
                            "logprobs": true, "top_logprobs": 2})");
  ASSERT_TRUE(two.contains("choices")) << two.dump();
  ASSERT_EQ(two["choices"].size(), 2U);
  EXPECT_EQ(two["choices"][1]["index"], 1);
  EXPECT_NE(two["choices"][0]["message"]["content"], two["choices"][1]["message"]["content"]);
  for (const OrderedJson& choice : two["choices"]) {
    const OrderedJson& tokens = choice["logprobs"]["content"];
    ASSERT_FALSE(tokens.empty());
    EXPECT_LE(tokens[0]["logprob"], 0);
    ASSERT_EQ(tokens[0]["top_logprobs"].size(), 2U);
    EXPECT_GE(tokens[0]["top_logprobs"][0]["logprob"], tokens[0]["top_logprobs"][1]["logprob"]);
  }
}

TEST_F(ChatServer, WhatWasReadIsSharedWithinAKeyAndNeverAcross) {
  ServerOptions options = chat_options();
  options.keys.file = folder_ / "keys.json";
  options.keys.secrets = {"one-key-of-this-test", "another-key-of-this-test"};
  serve(std::move(options));
  const std::string words = "This is said to be read once, and never by anybody else at all.";
  const auto cached = [&](const std::string& key, const std::string& more) {
    const OrderedJson told =
        this->told("/v1/chat/completions", conversation(R"("max_tokens": 2)" + more, words),
                   "Authorization: Bearer " + key + "\r\n");
    return told["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>();
  };
  EXPECT_EQ(cached("one-key-of-this-test", ""), 0);
  EXPECT_GT(cached("one-key-of-this-test", ""), 30);
  EXPECT_EQ(cached("another-key-of-this-test", R"(, "user": "cat")"), 0);
  EXPECT_GT(cached("one-key-of-this-test", R"(, "user": "cat")"), 30);
  EXPECT_GT(cached("one-key-of-this-test", R"(, "prompt_cache_key": "cat")"), 30);
}

// A conversation of so many turns, each a line of 40 letters.
std::string long_conversation(int turns) {
  std::string messages = R"([{"role": "system", "content": "Be kind."})";
  for (int i = 0; i < turns; ++i) {
    messages += R"(, {"role": "user", "content": ")" + std::string(40, static_cast<char>('a' + i)) +
                R"("}, {"role": "assistant", "content": "So."})";
  }
  return messages + R"(, {"role": "user", "content": "Now?"}])";
}

TEST_F(ChatServer, WhatHasNoRoomMayBeLeftOutAndIsSaid) {
  serve(chat_options());
  const std::string messages = R"({"messages": )" + long_conversation(12);
  EXPECT_THAT(post("/v1/chat/completions", messages + "}"), StartsWith("HTTP/1.1 400"));
  const std::string more = R"(, "truncation": "auto", "max_tokens": 4, "temperature": 0)";
  const std::string answer = post("/v1/chat/completions", messages + more + "}");
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Notes: messages_left_out"));
  const OrderedJson whole = OrderedJson::parse(test::body_of(answer));
  EXPECT_EQ(whole["mynah_notes"][0]["code"], "messages_left_out");
  EXPECT_THAT(whole["mynah_notes"][0]["text"].get<std::string>(), HasSubstr("oldest messages"));
  EXPECT_LT(whole["usage"]["prompt_tokens"], 512);
  const auto parts = events(messages + more + R"(, "stream": true})");
  EXPECT_EQ(parts.back()["mynah_notes"], whole["mynah_notes"]);
  const OrderedJson response =
      told("/v1/responses", R"({"input": )" + long_conversation(12) +
                                R"(, "truncation": "auto", "max_output_tokens": 4})");
  EXPECT_EQ(response["mynah_notes"][0]["code"], "messages_left_out");
  EXPECT_EQ(response["truncation"], "auto");
  const std::string of_ollama = R"({"model": "tiny", "stream": false, "options": {"num_predict": 4},
                                    "messages": )" +
                                long_conversation(12);
  EXPECT_EQ(told("/api/chat", of_ollama + "}")["mynah_notes"][0]["code"], "messages_left_out");
  EXPECT_THAT(post("/api/chat", of_ollama + R"(, "truncate": false})"), StartsWith("HTTP/1.1 400"));
}

TEST_F(ChatServer, ALesserContextOfAClientCounts) {
  serve(chat_options());
  const OrderedJson answer =
      told("/api/chat", R"({"model": "tiny", "stream": false, "messages": )" +
                            long_conversation(4) + R"(, "options": {"num_ctx": 200}})");
  EXPECT_EQ(answer["mynah_notes"][0]["code"], "messages_left_out");
  EXPECT_LE(answer["prompt_eval_count"].get<int>() + answer["eval_count"].get<int>(), 200);
}

TEST_F(ChatServer, AThoughtMayHaveSoManyTokens) {
  serve(chat_options());
  const OrderedJson answer =
      told("/v1/chat/completions",
           conversation(R"("reasoning": {"effort": "high", "max_tokens": 5}, "max_tokens": 20)"));
  EXPECT_EQ(answer["mynah_notes"][0]["code"], "thought_ended") << answer.dump();
  EXPECT_LE(answer["usage"]["completion_tokens_details"]["reasoning_tokens"], 6);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 20);
  const OrderedJson none =
      told("/v1/chat/completions", conversation(R"("reasoning_effort": "none", "max_tokens": 20)"));
  EXPECT_FALSE(none["choices"][0]["message"].contains("reasoning_content"));
  EXPECT_FALSE(none.contains("mynah_notes"));
}

TEST_F(ChatServer, APromptThatChangesEarlySaysSo) {
  serve(chat_options());
  const auto asked = [&](const std::string& time) {
    return told("/v1/chat/completions",
                R"({"max_tokens": 2, "messages": [{"role": "system", "content": "It is )" + time +
                    ". " + std::string(300, 'x') + R"("}, {"role": "user", "content": "Hi."}]})");
  };
  EXPECT_FALSE(asked("10:41").contains("mynah_notes"));
  const OrderedJson changed = asked("10:52");
  EXPECT_EQ(changed["mynah_notes"][0]["code"], "prompt_changed_early") << changed.dump();
  EXPECT_THAT(changed["mynah_notes"][0]["text"].get<std::string>(), HasSubstr("10:52"));
}

TEST_F(ChatServer, AStrictToolThatCannotBeKeptToIsRefused) {
  serve(chat_options());
  const auto with = [](const std::string& more) {
    return R"("max_tokens": 3, "tools": [{"type": "function", "function": {"name": "f")" + more +
           R"(, "parameters": {"type": "object", "properties": {"a": {"not": {}}}}}}])";
  };
  const std::string refused =
      post("/v1/chat/completions", conversation(with(R"(, "strict": true)")));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(refused, HasSubstr("tool f"));
  const OrderedJson noted = told("/v1/chat/completions", conversation(with("")));
  EXPECT_EQ(noted["mynah_notes"][0]["code"], "call_not_kept_to_schema") << noted.dump();
}

TEST_F(ChatServer, TextsAreGoneOnWith) {
  serve(chat_options());
  const OrderedJson whole =
      told("/v1/completions",
           R"({"prompt": "Once", "max_tokens": 4, "temperature": 0, "echo": true,
                              "logprobs": 1})");
  ASSERT_TRUE(whole.contains("choices")) << whole.dump();
  EXPECT_EQ(whole["object"], "text_completion");
  EXPECT_THAT(whole["choices"][0]["text"].get<std::string>(), StartsWith("Once"));
  EXPECT_EQ(whole["choices"][0]["logprobs"]["tokens"].size(), 4U);
  EXPECT_THAT(post("/v1/completions", R"({"prompt": "Once", "max_tokens": 2, "stream": true})"),
              HasSubstr("data: [DONE]"));

  const OrderedJson both =
      told("/v1/completions",
           R"({"prompt": ["Twice", "Once"], "max_tokens": 4, "temperature": 0, "echo": true,
               "n": 2})");
  ASSERT_EQ(both["choices"].size(), 4U) << both.dump();
  EXPECT_THAT(both["choices"][1]["text"].get<std::string>(), StartsWith("Twice"));
  EXPECT_EQ(both["choices"][3]["index"], 3);
  EXPECT_EQ(both["choices"][3]["text"], whole["choices"][0]["text"]);
  EXPECT_EQ(both["usage"]["prompt_tokens"], 5 + 4);
  EXPECT_EQ(both["usage"]["completion_tokens"], 4 * 4);
}

TEST_F(ChatServer, ResponsesAreItemsAndEventsOfThem) {
  serve(chat_options());
  EXPECT_EQ(told("/v1/responses", R"({"input": "Hi.", "max_output_tokens": 1})")["temperature"],
            0.7);
  const std::string input = R"("input": "Hi.", "temperature": 0, "max_output_tokens": 12)";
  const OrderedJson whole = told("/v1/responses", "{" + input + "}");
  ASSERT_TRUE(whole.contains("output")) << whole.dump();
  EXPECT_EQ(whole["status"], "incomplete");
  EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(whole["usage"]["output_tokens"], 12);
  const std::string streamed = post("/v1/responses", "{" + input + R"(, "stream": true})");
  EXPECT_THAT(streamed, HasSubstr("event: response.created\ndata: {\"type\":\"response.created\""));
  EXPECT_THAT(streamed, HasSubstr("event: response.output_item.added\n"));
  EXPECT_THAT(streamed, HasSubstr("event: response.incomplete\n"));
  EXPECT_THAT(streamed, HasSubstr(whole["output"][0]["content"].dump()))
      << "the item that is done is that of the whole answer";

  const OrderedJson called = told("/v1/responses",
                                  R"({"input": [{"role": "user", "content": "Hi."},
                               {"type": "function_call", "call_id": "a", "name": "f",
                                "arguments": "{}"},
                               {"type": "function_call_output", "call_id": "a", "output": "b"}],
                               "temperature": 0, "tool_choice": "required", "max_output_tokens": 200,
                               "tools": [{"type": "function", "name": "f",
                                          "parameters": {"const": {"x": 1}}}]})");
  ASSERT_TRUE(called.contains("output")) << called.dump();
  EXPECT_EQ(called["status"], "completed");
  EXPECT_EQ(called["output"][0]["type"], "function_call");
  EXPECT_EQ(called["output"][0]["name"], "f");
  EXPECT_EQ(OrderedJson::parse(called["output"][0]["arguments"].get<std::string>())["x"], 1);
  EXPECT_THAT(post("/v1/responses", R"({"input": "a", "previous_response_id": "b"})"),
              HasSubstr(R"("param":"previous_response_id")"));
}

TEST_F(ChatServer, SoundInAMessageIsHeard) {
  serve(chat_options());
  const std::string refused =
      post("/v1/chat/completions",
           R"({"messages": [{"role": "user", "content": [{"type": "input_audio",
          "input_audio": {"data": "!", "format": "wav"}}]}]})");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(refused, HasSubstr("messages[0]: input_audio"));
  EXPECT_THAT(post("/v1/chat/completions",
                   R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
              HasSubstr("images are not read here: wanted parts of text"));
}

TEST_F(ChatServer, TheModelIsListedLoadedAndCounted) {
  serve(chat_options());
  const OrderedJson listed = OrderedJson::parse(test::body_of(get("/v1/models")))["data"][0];
  EXPECT_EQ(listed["id"], "tiny");
  EXPECT_EQ(listed["owned_by"], "llm");
  EXPECT_EQ(listed["task"], "text-generation");
  EXPECT_GT(listed["created"], 1'700'000'000) << "when its file was";
  EXPECT_THAT(post("/v1/models/tiny/load", ""), HasSubstr(R"("status":"loaded")"));
  EXPECT_THAT(get("/api/ps"),
              AllOf(HasSubstr(R"("name":"tiny:latest")"), HasSubstr(R"("family":"llama")")));
  const OrderedJson told = this->told("/v1/chat/completions", conversation(R"("max_tokens": 3)"));
  // A request is over when its thread is, after its answer.
  while (!get("/v1/queue").contains(R"("running":{"hear":0,"speak":0,"write":0,"embed":0})")) {
    std::this_thread::yield();
  }
  EXPECT_THAT(get("/health/ready"), HasSubstr(R"("models":1)"));
  const std::string metrics = get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("mynah_tokens_total{kind=\"written\"} 3\n"));
  EXPECT_THAT(metrics, HasSubstr("mynah_wait_seconds_count{task=\"write\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("mynah_first_word_seconds_count 1\n"));
}

}  // namespace
}  // namespace mynah::server
