// Vectors over HTTP, by a tiny model: OpenAI's interface and ollama's.
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/whole_server.h"
#include "store/base64.h"
#include "test_paths.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kLongText = "a b c d e a b c d e a b c d e";

class EmbeddingServer : public test::WholeServer {
 protected:
  [[nodiscard]] ServerOptions embedding_options() const {
    ServerOptions options = WholeServer::options();
    options.service.embedding_model = mynah::test::source_path("tests/models/bert/golden/tiny");
    return options;
  }

  [[nodiscard]] OrderedJson told(const std::string& path, const OrderedJson& body) const {
    return OrderedJson::parse(test::body_of(post(path, body.dump())), nullptr, false);
  }

  [[nodiscard]] OrderedJson embeddings(const OrderedJson& input,
                                       const OrderedJson& more = OrderedJson::object()) const {
    OrderedJson body = {{"input", input}, {"model", "text-embedding-3-small"}};
    body.update(more);
    return told("/v1/embeddings", body);
  }
};

TEST_F(EmbeddingServer, ATextAListAndTokensMakeTheSameVectors) {
  serve(embedding_options());
  const OrderedJson one = embeddings("the cat");
  ASSERT_TRUE(one.is_object() && one.contains("data")) << one.dump();
  EXPECT_EQ(one["object"], "list");
  EXPECT_EQ(one["model"], "tiny");
  EXPECT_EQ(one["usage"]["prompt_tokens"], 4);
  EXPECT_EQ(one["usage"]["total_tokens"], 4);
  const OrderedJson& vector = one["data"][0]["embedding"];
  ASSERT_EQ(vector.size(), 16U);
  EXPECT_EQ(one["data"][0]["object"], "embedding");
  EXPECT_FALSE(one["data"][0].contains("left_out"));

  const OrderedJson several = embeddings(OrderedJson::array({"abc", "the cat", ""}));
  ASSERT_EQ(several["data"].size(), 3U);
  EXPECT_EQ(several["data"][1]["index"], 1);
  EXPECT_EQ(several["data"][1]["embedding"], vector);
  EXPECT_NE(several["data"][0]["embedding"], vector);

  EXPECT_EQ(embeddings(OrderedJson::array({15, 17}))["data"][0]["embedding"], vector);
  const OrderedJson lists = embeddings(OrderedJson::array({{2, 15, 17, 3}, {5}}));
  ASSERT_EQ(lists["data"].size(), 2U) << lists.dump();
  EXPECT_EQ(lists["data"][0]["embedding"], vector);
}

TEST_F(EmbeddingServer, BytesAreTheNumbers) {
  serve(embedding_options());
  const OrderedJson numbers = embeddings("the cat");
  const OrderedJson coded = embeddings("the cat", {{"encoding_format", "base64"}});
  const auto bytes = bytes_of_base64(coded["data"][0]["embedding"].get<std::string>());
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 16 * sizeof(float));
  for (size_t i = 0; i < 16; ++i) {
    float value = 0;
    std::memcpy(&value, bytes->data() + i * sizeof(float), sizeof(float));
    EXPECT_EQ(value, numbers["data"][0]["embedding"][i].get<float>());
  }
  EXPECT_EQ(embeddings("the cat", {{"dimensions", 4}})["data"][0]["embedding"].size(), 4U);
}

TEST_F(EmbeddingServer, AnAnswerNamesItsModelAndWhatWasCut) {
  serve(embedding_options());
  const OrderedJson body = {{"input", {kLongText, "a"}}, {"model", "text-embedding-ada-002"}};
  const std::string answer = post("/v1/embeddings", body.dump());
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Model: tiny\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Device: embed=cpu\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Mynah-Cut: 1\r\n"));
  EXPECT_THAT(answer, HasSubstr(R"("left_out":5})"));
  EXPECT_THAT(answer, Not(HasSubstr("X-Mynah-Ignored")));
}

TEST_F(EmbeddingServer, NoModelStandsForAnotherOne) {
  ServerOptions options = embedding_options();
  options.service.aliases = {{.name = "mine", .model = "tiny"}};
  serve(std::move(options));
  StoredModel writes;
  writes.name = "talker";
  writes.family = "llm";
  writes.created = "2026-01-01T00:00:00Z";
  writes.folder = folder_ / "home/models/talker";
  writes.sha256 = std::string(64, '0');
  mynah::test::write_file(writes.path(), "no weights");
  ASSERT_TRUE(write_source_json(writes));
  const auto asked = [this](const std::string& model) {
    return post("/v1/embeddings", OrderedJson({{"input", "a"}, {"model", model}}).dump());
  };
  for (const char* const unknown : {"bge-m3", "gpt-4o", "whisper-1"}) {
    EXPECT_THAT(asked(unknown), StartsWith("HTTP/1.1 404")) << unknown;
  }
  EXPECT_THAT(asked("bge-m3"), HasSubstr("there is no embedding model 'bge-m3' here; there are: "
                                         "tiny\",\"type\""));
  EXPECT_THAT(asked("bge-m3"), HasSubstr(R"("code":"model_not_found")"));
  const std::string wrong = asked("talker");
  EXPECT_THAT(wrong, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(wrong, HasSubstr("'talker' is of the kind 'language model'"));
  EXPECT_THAT(asked("mine"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(post("/api/embed", R"({"input": "a", "model": "bge-m3"})"),
              HasSubstr("{\"error\":\"model 'bge-m3' not found"));
}

TEST_F(EmbeddingServer, WhatIsWrongIsNamedByItsField) {
  serve(embedding_options());
  const auto error = [&](const OrderedJson& body) {
    const std::string answer = post("/v1/embeddings", body.dump());
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << body.dump();
    return OrderedJson::parse(test::body_of(answer), nullptr, false)["error"];
  };
  EXPECT_EQ(error({{"model", "tiny"}})["param"], "input");
  EXPECT_EQ(error({{"input", OrderedJson::array()}})["param"], "input");
  EXPECT_EQ(error({{"input", OrderedJson::array({"a", 5})}})["param"], "input");
  EXPECT_EQ(error({{"input", OrderedJson::array({{5}, "a"})}})["param"], "input");
  EXPECT_EQ(error({{"input", OrderedJson::array({5, 999})}})["message"],
            "text 1: wanted tokens of this model, 0 to 25, found 999");
  EXPECT_EQ(error({{"input", OrderedJson::array({-1})}})["param"], "input");
  EXPECT_EQ(error({{"input", "a"}, {"dimensions", 17}})["param"], "dimensions");
  EXPECT_EQ(error({{"input", "a"}, {"encoding_format", "int8"}})["param"], "encoding_format");
  EXPECT_EQ(error({{"input", kLongText}, {"truncate", false}})["message"],
            "text 1: wanted 12 tokens at most, which is what the model reads, found 17");
}

TEST_F(EmbeddingServer, OllamasRequestsMakeTheSameVectors) {
  serve(embedding_options());
  const OrderedJson vector = embeddings("the cat")["data"][0]["embedding"];
  const OrderedJson one =
      told("/api/embed", {{"model", "tiny:latest"}, {"input", "the cat"}, {"options", {{"a", 1}}}});
  ASSERT_TRUE(one.contains("embeddings")) << one.dump();
  EXPECT_EQ(one["model"], "tiny:latest");
  EXPECT_EQ(one["embeddings"], OrderedJson::array({vector}));
  EXPECT_EQ(one["prompt_eval_count"], 4);
  EXPECT_GE(one["total_duration"], one["load_duration"]);
  const OrderedJson two = told("/api/embed", {{"model", "tiny"}, {"input", {"abc", "the cat"}}});
  EXPECT_EQ(two["embeddings"][1], vector);
  EXPECT_EQ(told("/api/embeddings", {{"model", "tiny"}, {"prompt", "the cat"}})["embedding"],
            vector);
  EXPECT_THAT(
      post("/api/embed",
           OrderedJson({{"model", "tiny"}, {"input", kLongText}, {"truncate", false}}).dump()),
      HasSubstr("{\"error\":\"text 1: wanted 12 tokens at most"));
  EXPECT_THAT(post("/api/embed", R"({"input": "a"})"), StartsWith("HTTP/1.1 400"));
}

TEST_F(EmbeddingServer, OllamasEmptyRequestsOpenAModelAndLetGoOfIt) {
  serve(embedding_options());
  EXPECT_EQ(told("/api/embed", {{"model", "tiny"}})["embeddings"], OrderedJson::array());
  EXPECT_THAT(get("/api/ps"), HasSubstr(R"("name":"tiny:latest")"));
  EXPECT_THAT(get("/api/ps"), HasSubstr(R"("task":"feature-extraction")"));
  EXPECT_EQ(told("/api/embed", {{"model", "tiny"}, {"keep_alive", 0}})["embeddings"],
            OrderedJson::array());
  EXPECT_THAT(get("/api/ps"), Not(HasSubstr("tiny:latest")));
}

TEST_F(EmbeddingServer, TheModelIsListedLoadedAndCounted) {
  serve(embedding_options());
  EXPECT_THAT(get("/v1/models"),
              HasSubstr(R"("owned_by":"embedding","task":"feature-extraction")"));
  const OrderedJson tags = OrderedJson::parse(test::body_of(get("/api/tags")));
  ASSERT_EQ(tags["models"].size(), 1U);
  EXPECT_EQ(tags["models"][0]["model"], "tiny:latest");
  EXPECT_EQ(tags["models"][0]["details"]["family"], "bert");
  EXPECT_EQ(told("/api/show", {{"model", "tiny"}})["capabilities"],
            OrderedJson::array({"embedding"}));
  EXPECT_THAT(post("/v1/models/tiny/load", ""), HasSubstr(R"("status":"loaded")"));
  EXPECT_EQ(embeddings("the cat")["data"].size(), 1U);
  const std::string metrics = get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("mynah_tokens_total{kind=\"embedded\"} 4\n"));
  EXPECT_THAT(metrics, HasSubstr("mynah_wait_seconds_count{task=\"embed\"}"));
}

TEST_F(EmbeddingServer, WithoutAModelSaysWhatToPull) {
  serve(WholeServer::options());
  const std::string answer = post("/v1/embeddings", R"({"input": "a", "model": "tiny"})");
  EXPECT_THAT(answer, HasSubstr("no embedding model is on this machine"));
  EXPECT_THAT(answer, HasSubstr("minilm"));
}

}  // namespace
}  // namespace mynah::server
