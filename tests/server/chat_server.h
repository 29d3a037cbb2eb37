// A server with a tiny language model, and what its answers say.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "chat/tiny_language.h"
#include "server/whole_server.h"

namespace mynah::server::test {

using OrderedJson = nlohmann::ordered_json;

inline constexpr const char* kLamp =
    R"({"type": "function", "function": {"name": "turn_on", "parameters": {"type": "object",
        "properties": {"lamp": {"const": "hall"}}, "required": ["lamp"],
        "additionalProperties": false}}})";

class ChatServer : public WholeServer {
 protected:
  [[nodiscard]] ServerOptions chat_options() const {
    ServerOptions options = WholeServer::options();
    options.service.chat_model = ::mynah::test::write_tiny_language(folder_ / "tiny.gguf");
    return options;
  }

  // The same of a model whose chat template knows no tools.
  [[nodiscard]] ServerOptions options_without_tools() const {
    ServerOptions options = WholeServer::options();
    options.service.chat_model = ::mynah::test::write_tiny_language(
        folder_ / "plain.gguf", ::mynah::test::kTinyTemplateWithoutTools);
    return options;
  }

  // A request of a conversation of one message, with more of its fields.
  static std::string conversation(const std::string& more, const std::string& said = "Hi.") {
    return R"({"messages": [{"role": "user", "content": ")" + said + R"("}], "temperature": 0)" +
           (more.empty() ? "" : ", " + more) + "}";
  }

  [[nodiscard]] OrderedJson told(const std::string& path, const std::string& body,
                                 const std::string& headers = {}) const {
    return OrderedJson::parse(body_of(post(path, body, headers)), nullptr, false);
  }

  // The objects of an answer in events, and whether it was ended as it should be.
  [[nodiscard]] std::vector<OrderedJson> events(const std::string& body) const {
    const std::string answer = post("/v1/chat/completions", body);
    std::vector<OrderedJson> all;
    size_t at = 0;
    while ((at = answer.find("data: {", at)) != std::string::npos) {
      const size_t end = answer.find("\n\n", at);
      all.push_back(OrderedJson::parse(answer.substr(at + 6, end - at - 6), nullptr, false));
      at = end;
    }
    EXPECT_THAT(answer, ::testing::HasSubstr("data: [DONE]\n\n"));
    return all;
  }

  // Those of an answer a line each.
  [[nodiscard]] std::vector<OrderedJson> lines(const std::string& path,
                                               const std::string& body) const {
    const std::string answer = post(path, body);
    EXPECT_THAT(answer, ::testing::HasSubstr("Content-Type: application/x-ndjson"));
    std::vector<OrderedJson> all;
    for (size_t at = answer.find("{\"model\""); at != std::string::npos;
         at = answer.find("{\"model\"", at + 1)) {
      all.push_back(
          OrderedJson::parse(answer.substr(at, answer.find('\n', at) - at), nullptr, false));
    }
    return all;
  }
};

}  // namespace mynah::server::test
