// Language models over HTTP as ollama's clients ask for them, by a tiny one.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/chat_server.h"

namespace mynah::server {
namespace {

using test::OrderedJson;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OllamaServer : public test::ChatServer {};

TEST_F(OllamaServer, ClientsFindTheModel) {
  serve(chat_options());
  EXPECT_EQ(OrderedJson::parse(test::body_of(get("/api/version")))["version"], "0.12.0");
  const OrderedJson tags = OrderedJson::parse(test::body_of(get("/api/tags")));
  ASSERT_EQ(tags["models"].size(), 1U);
  EXPECT_EQ(tags["models"][0]["model"], "tiny:latest");
  EXPECT_EQ(tags["models"][0]["digest"].get<std::string>().size(), 64U);
  EXPECT_THAT(tags["models"][0]["modified_at"].get<std::string>(), StartsWith("20"));
  const OrderedJson shown = told("/api/show", R"({"model": "tiny"})");
  EXPECT_EQ(shown["capabilities"], OrderedJson({"completion", "tools", "thinking"}));
  EXPECT_EQ(shown["model_info"]["llama.context_length"], mynah::test::kTinyContext);
  EXPECT_TRUE(shown["model_info"]["tokenizer.ggml.tokens"].is_null());
  EXPECT_EQ(shown["template"], mynah::test::kTinyTemplate);
  EXPECT_EQ(shown["details"]["family"], "llama");
  EXPECT_EQ(shown["details"]["parameter_size"], "0.02M");
  EXPECT_EQ(shown["details"]["quantization_level"], "f32");
  EXPECT_EQ(tags["models"][0]["details"], shown["details"]);
  EXPECT_THAT(post("/api/pull", R"({"model": "no-such-model"})"),
              HasSubstr("{\"error\":\"model: the catalogue has no 'no-such-model'"));
}

TEST_F(OllamaServer, ChatStreamsLinesAndTellsCallsAsObjects) {
  serve(chat_options());
  const std::string body =
      R"({"model": "tiny:latest", "messages": [{"role": "user", "content": "Hi."}],
          "options": {"temperature": 0, "num_predict": 12, "num_ctx": 8192}})";
  const auto all = lines("/api/chat", body);
  ASSERT_GT(all.size(), 1U);
  std::string content;
  for (const OrderedJson& line : all) {
    EXPECT_EQ(line["model"], "tiny:latest");
    content += line["message"]["content"].get<std::string>();
    EXPECT_EQ(line["done"], &line == &all.back());
  }
  EXPECT_EQ(all.back()["done_reason"], "length");
  EXPECT_EQ(all.back()["eval_count"], 12);
  EXPECT_GT(all.back()["total_duration"], all.back()["load_duration"]);
  OrderedJson whole = OrderedJson::parse(body);
  whole["stream"] = false;
  EXPECT_EQ(told("/api/chat", whole.dump())["message"]["content"], content);

  OrderedJson bound = whole;
  bound["options"]["num_predict"] = 200;
  bound["tools"] = OrderedJson::array({OrderedJson::parse(test::kLamp)});
  bound["format"] = OrderedJson::parse(R"({"const": {"lamp": "x"}})");
  const OrderedJson message = told("/api/chat", bound.dump())["message"];
  if (message.contains("tool_calls")) {
    EXPECT_EQ(message["tool_calls"][0]["function"]["arguments"]["lamp"], "hall");
  } else {
    EXPECT_EQ(OrderedJson::parse(message["content"].get<std::string>())["lamp"], "x");
  }
}

TEST_F(OllamaServer, GenerateThinksApartAndLoadsWithoutAPrompt) {
  serve(chat_options());
  EXPECT_EQ(told("/api/generate", R"({"model": "tiny"})")["done_reason"], "load");
  EXPECT_THAT(get("/api/ps"), HasSubstr("tiny:latest"));
  const OrderedJson thought =
      told("/api/generate",
           R"({"model": "tiny", "prompt": "Hi.", "stream": false, "think": true,
                                "options": {"temperature": 0, "num_predict": 10}})");
  EXPECT_TRUE(thought.contains("thinking")) << thought.dump();
  EXPECT_EQ(thought["done_reason"], "length");
  const OrderedJson raw = told("/api/generate",
                               R"({"model": "tiny", "prompt": "Once", "stream": false, "raw": true,
                            "format": {"const": 7}})");
  EXPECT_EQ(raw["response"], "7") << raw.dump();
  EXPECT_EQ(told("/api/generate", R"({"model": "tiny", "keep_alive": 0})")["done_reason"],
            "unload");
  EXPECT_THAT(get("/api/ps"), Not(HasSubstr("tiny:latest")));
}

TEST_F(OllamaServer, AContextThatTheServerCouldGiveIsRefusedWithNumbers) {
  ServerOptions options = chat_options();
  options.service.chat_context = 256;
  serve(std::move(options));
  const std::string body = R"({"model": "tiny", "prompt": "Hi.", "stream": false,
                               "options": {"num_predict": 1, "num_ctx": 400}})";
  const std::string answer = post("/api/generate", body);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(answer, HasSubstr("400 tokens are wanted, and the model was opened with 256"));
}

TEST_F(OllamaServer, WhatARequestsOwnContextHasNoRoomForIsToldSo) {
  serve(chat_options());
  const OrderedJson body = {{"model", "tiny"},
                            {"prompt", std::string(200, 'a')},
                            {"truncate", false},
                            {"options", {{"num_ctx", 100}}}};
  const std::string answer = post("/api/generate", body.dump());
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(answer, HasSubstr("maximum context length is 100"));
  EXPECT_THAT(answer, HasSubstr("send less, or ask for a larger num_ctx"));
}

TEST_F(OllamaServer, AContextThatTheModelWasNotTrainedForIsSaid) {
  serve(chat_options());
  const OrderedJson told = this->told("/api/generate", R"({"model": "tiny", "prompt": "Hi.",
      "stream": false, "options": {"num_predict": 1, "num_ctx": 1000000}})");
  EXPECT_EQ(told["mynah_notes"][0]["code"], "context_is_smaller") << told.dump();
  EXPECT_THAT(told["mynah_notes"][0]["text"].get<std::string>(),
              HasSubstr("1000000 tokens are wanted, and the model was trained for 512"));
}

TEST_F(OllamaServer, AModelThatIsNotHereIsNotFound) {
  serve(chat_options());
  for (const char* const path : {"/api/chat", "/api/generate", "/api/show"}) {
    const std::string answer = post(path, R"({"model": "nosuch:7b", "prompt": "Hi.",
                       "messages": [{"role": "user", "content": "Hi."}]})");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404")) << path;
    EXPECT_THAT(answer, HasSubstr("{\"error\":\"model 'nosuch:7b' not found")) << path;
  }
  EXPECT_THAT(post("/api/generate", R"({"prompt": "Hi.", "options": {"num_predict": 1}})"),
              StartsWith("HTTP/1.1 200"))
      << "who names none means the default";
}

TEST_F(OllamaServer, AModelIsNotFoundWhereThereIsNone) {
  serve(WholeServer::options());
  for (const char* const path : {"/api/chat", "/api/generate", "/api/embed", "/api/embeddings"}) {
    const std::string answer = post(path, R"({"model": "qwen3:4b"})");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404")) << path;
    EXPECT_THAT(answer, HasSubstr("{\"error\":\"model 'qwen3:4b' not found")) << path;
  }
}

TEST_F(OllamaServer, ToolsAreRefusedWhereTheTemplateKnowsNone) {
  serve(options_without_tools());
  EXPECT_EQ(told("/api/show", R"({"model": "plain"})")["capabilities"],
            OrderedJson::array({"completion"}));
  const std::string answer =
      post("/api/chat", R"({"model": "plain", "messages": [{"role": "user", "content": "Hi."}],
                       "options": {"num_predict": 1}, "tools": [)" +
                            std::string(test::kLamp) + "]}");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(answer, HasSubstr("plain does not support tools"));
}

}  // namespace
}  // namespace mynah::server
