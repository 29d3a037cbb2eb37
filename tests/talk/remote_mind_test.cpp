// A language model elsewhere: what it is asked, how its answers are read, and every way in which it
// may fail.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "store/scripted_server.h"
#include "talk/organs/chat_chunks.h"
#include "talk/service_fixture.h"

namespace mynah::talk {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kModels = R"({"data": [{"id": "bge-m3"}, {"id": "qwen3:8b"}]})";

std::string event(const Json& data) {
  return "data: " + data.dump() + "\n\n";
}

std::string content(std::string_view text) {
  return event({{"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}});
}

std::string end(std::string_view reason = "stop") {
  return event({{"choices",
                 {{{"index", 0}, {"delta", Json::object()}, {"finish_reason", reason}}}}}) +
         "data: [DONE]\n\n";
}

// Keeps what it is told.
class Told final : public ChatObserver {
 public:
  Status on_delta(const ChatDelta& delta) override {
    content += delta.said.content;
    reasoning += delta.said.reasoning;
    if (stops_at && content.size() >= *stops_at) {
      return fail(ErrorCode::Cancelled, "it is enough");
    }
    return {};
  }

  void on_note(const ReplyNote& note) override { notes.push_back(note.code); }

  std::string content;
  std::string reasoning;
  std::vector<std::string> notes;
  std::optional<size_t> stops_at;
};

class RemoteMind : public ServiceFixture {
 protected:
  // A server whose replies are `handler`'s.
  void serve_replies(const testing::ScriptedHandler& handler) {
    serve([handler](const testing::ScriptedRequest& request, const testing::ScriptedWire& wire) {
      if (request.target.ends_with("/models")) {
        wire.answer(200, "Content-Type: application/json\r\n", kModels);
        return true;
      }
      return handler(request, wire);
    });
  }

  Result<ChatReply> ask(ChatRequest request = {}) {
    if (mind == nullptr) {
      auto opened = remote_mind(service("llm"), {});
      if (!opened) {
        return std::unexpected(opened.error());
      }
      mind = *std::move(opened);
    }
    if (request.messages.empty()) {
      request.messages = Json::array({Json{{"role", "user"}, {"content", "Hello?"}}});
    }
    return mind->reply(request, told, stop.get_token());
  }

  // The error that it ends with.
  Error failure() {
    const auto replied = ask();
    EXPECT_FALSE(replied);
    return replied ? Error() : replied.error();
  }

  [[nodiscard]] Json last_body() const { return Json::parse(server->requests().back().body); }

  std::unique_ptr<Mind> mind;
  Told told;
  std::stop_source stop;
};

TEST_F(RemoteMind, TellsAReplyAsItComes) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream; charset=utf-8");
    EXPECT_TRUE(wire.chunk(": a sign of life\n\n" + content("Good ")));
    EXPECT_TRUE(wire.chunk(content("morning.") + end() +
                           event({{"choices", Json::array()},
                                  {"usage", {{"prompt_tokens", 12}, {"completion_tokens", 3}}}})));
    wire.end();
    return true;
  });
  ChatRequest request;
  request.choice.sampling.temperature = 0.7F;
  request.choice.most_tokens = 300;
  request.choice.seed = (uint64_t{1} << 40U) + 7;
  request.choice.stops = {"\n\n"};
  request.thinking.effort = Thinking::Effort::None;
  const auto replied = ask(request);
  ASSERT_TRUE(replied) << replied.error().message;
  EXPECT_EQ(told.content, "Good morning.");
  EXPECT_EQ(replied->message.content, "Good morning.");
  EXPECT_EQ(replied->end, ReplyEnd::Whole);
  EXPECT_EQ(mind->facts().model, "qwen3:8b") << "the first that writes";
  EXPECT_FALSE(mind->facts().leaves_machine);
  EXPECT_EQ(mind->facts().place, server->url("/v1"));
  const Json body = last_body();
  EXPECT_EQ(body["model"], "qwen3:8b");
  EXPECT_EQ(body["temperature"], 0.7);
  EXPECT_EQ(body["max_tokens"], 300);
  EXPECT_EQ(body["seed"], 7) << "some servers keep it in 32 bits";
  EXPECT_EQ(body["stop"], Json::array({"\n\n"}));
  EXPECT_EQ(body["reasoning_effort"], "none");
  EXPECT_EQ(body["messages"][0]["content"], "Hello?");
  EXPECT_TRUE(body["stream"]);
  EXPECT_EQ(server->requests().back().target, "/v1/chat/completions");
  EXPECT_EQ(server->requests().back().header("authorization"), "");
}

TEST_F(RemoteMind, IsNamedAsTheServerNamesTheModelThatAnswers) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(event({{"model", "qwen3:8b-q4_K_M"}, {"choices", Json::array()}}) +
                           content("Yes.") + end()));
    wire.end();
    return true;
  });
  ASSERT_TRUE(ask());
  EXPECT_EQ(mind->facts().model, "qwen3:8b-q4_K_M");
  ASSERT_TRUE(ask());
  EXPECT_EQ(last_body()["model"], "qwen3:8b") << "it is asked for as it was chosen";
}

TEST_F(RemoteMind, SendsTheKeyAndNeverTellsIt) {
  key = "sk-secret-1";
  serve_replies([](const auto&, const auto& wire) {
    wire.answer(401, "", R"({"error": {"message": "Incorrect API key provided: sk-secret-1."}})");
    return true;
  });
  const Error error = failure();
  EXPECT_EQ(server->requests().back().header("authorization"), "Bearer sk-secret-1");
  EXPECT_EQ(error.code, ErrorCode::Environment);
  EXPECT_THAT(error.message, HasSubstr(server->url("/v1/chat/completions")));
  EXPECT_THAT(error.message, HasSubstr("401"));
  EXPECT_THAT(error.message, HasSubstr("--llm-key-file"));
  EXPECT_THAT(error.message, Not(HasSubstr("sk-secret")));
}

TEST_F(RemoteMind, ThoughtsAndCallsAreNotContent) {
  serve_replies([](const auto&, const auto& wire) {
    const auto call = [](Json function, int index, std::string_view id) {
      return event(
          {{"choices",
            {{{"index", 0},
              {"delta",
               {{"tool_calls",
                 {{{"index", index}, {"id", id}, {"function", std::move(function)}}}}}}}}}});
    };
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(
        event({{"choices", {{{"index", 0}, {"delta", {{"reasoning_content", "Hm. "}}}}}}}) +
        content("<thi") + content("nk>who is it?</think>One ") + content("moment.") +
        call({{"name", "look_up"}, {"arguments", ""}}, 0, "call_a") +
        call({{"arguments", R"({"what": )"}}, 0, "") + call({{"arguments", R"("tea"})"}}, 0, "") +
        call({{"name", "now"}}, 0, "call_b") + end()));
    wire.end();
    return true;
  });
  const auto replied = ask();
  ASSERT_TRUE(replied) << replied.error().message;
  EXPECT_EQ(told.content, "One moment.");
  EXPECT_EQ(told.reasoning, "Hm. who is it?");
  EXPECT_EQ(replied->end, ReplyEnd::Calls);
  ASSERT_EQ(replied->message.calls.size(), 2U);
  EXPECT_EQ(
      replied->message.calls[0],
      (ToolCall{
          .id = "call_a", .name = "look_up", .arguments = R"({"what": "tea"})", .valid = true}));
  EXPECT_EQ(replied->message.calls[1],
            (ToolCall{.id = "call_b", .name = "now", .arguments = "{}", .valid = true}))
      << "the same index with another id is another call";
}

TEST_F(RemoteMind, TakesAReplyThatIsNoStream) {
  serve_replies([](const auto&, const auto& wire) {
    wire.answer(200, "Content-Type: application/json\r\n",
                R"({"choices": [{"message": {"content": "Yes."}, "finish_reason": "length"}]})");
    return true;
  });
  const auto replied = ask();
  ASSERT_TRUE(replied) << replied.error().message;
  EXPECT_EQ(told.content, "Yes.");
  EXPECT_EQ(replied->end, ReplyEnd::Length);
}

TEST_F(RemoteMind, LeavesOutWhatAServerDoesNotTake) {
  serve_replies([](const auto& request, const auto& wire) {
    const Json body = Json::parse(request.body);
    if (body.contains("max_tokens")) {
      wire.answer(400, "",
                  R"({"error": {"message": "Unsupported parameter: 'max_tokens' is not )"
                  R"(supported with this model. Use 'max_completion_tokens' instead.",)"
                  R"("param": "max_tokens"}})");
    } else if (body.contains("seed")) {
      wire.answer(422, "", R"({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]})");
    } else if (body.contains("chat_template_kwargs")) {
      wire.answer(400, "", R"({"error": "Unknown parameter: 'chat_template_kwargs'."})");
    } else {
      wire.begin("text/event-stream");
      EXPECT_TRUE(wire.chunk(content("All right.") + end()));
      wire.end();
    }
    return true;
  });
  ChatRequest request;
  request.choice.most_tokens = 50;
  request.thinking.effort = Thinking::Effort::None;
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(last_body()["max_completion_tokens"], 50);
  const size_t asked = server->requests().size();
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(server->requests().size(), asked + 1) << "what it refused is known from then on";
}

TEST_F(RemoteMind, LeavesTheOldestTurnsOutWhereThereIsNoRoom) {
  serve_replies([](const auto& request, const auto& wire) {
    const Json body = Json::parse(request.body);
    if (body["messages"].size() > 4) {
      wire.answer(400, "",
                  R"({"error": {"message": "the request exceeds the available context )"
                  R"(size", "type": "exceed_context_size_error"}})");
      return true;
    }
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(content("Fine.") + end()));
    wire.end();
    return true;
  });
  ChatRequest request;
  request.too_long = TooLong::LeaveOut;
  request.messages = Json::array({Json{{"role", "system"}, {"content", "Be kind."}}});
  for (const std::string_view text : {"one", "two", "three"}) {
    request.messages.push_back({{"role", "user"}, {"content", text}});
    request.messages.push_back({{"role", "assistant"}, {"content", "Yes."}});
  }
  request.messages.push_back({{"role", "user"}, {"content", "four"}});
  ASSERT_TRUE(ask(request));
  const Json sent = last_body()["messages"];
  EXPECT_EQ(sent.front()["role"], "system");
  EXPECT_EQ(sent[1]["content"], "three");
  EXPECT_EQ(sent.back()["content"], "four");
  EXPECT_THAT(told.notes, ElementsAre("messages_left_out"));
  request.too_long = TooLong::Refuse;
  const auto refused = ask(request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("context size"));
}

TEST_F(RemoteMind, WhatCameBeforeTheEndWasCutStays) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(content("Once upon a ")));
    EXPECT_TRUE(wire.chunk(content("time <")));
    return false;
  });
  const Error error = failure();
  EXPECT_EQ(told.content, "Once upon a time <") << "also what might have become a marker";
  EXPECT_EQ(error.code, ErrorCode::Io);
  EXPECT_THAT(error.message, HasSubstr("the connection broke"));
  EXPECT_EQ(server->requests().size(), 2U) << "it is not asked again";
}

TEST_F(RemoteMind, AStreamThatEndsBeforeTheReplyIsAFault) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(content("Half a")));
    wire.end();
    return true;
  });
  EXPECT_THAT(failure().message, HasSubstr("ended before the reply did"));
  EXPECT_EQ(told.content, "Half a");
}

TEST_F(RemoteMind, TellsWhatTheServerSaysInTheMiddle) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(content("Well, ") + event({{"error", {{"message", "out of memory"}}}})));
    wire.end();
    return true;
  });
  EXPECT_THAT(failure().message, HasSubstr("out of memory"));
  EXPECT_EQ(told.content, "Well, ");
}

TEST_F(RemoteMind, AnEndlessReplyEnds) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    while (wire.chunk(content(std::string(60'000, 'a')))) {
    }
    return false;
  });
  EXPECT_THAT(failure().message, HasSubstr("wanted a reply of"));
}

TEST_F(RemoteMind, AnEventWithoutAnEndEnds) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    while (wire.chunk("data: " + std::string(60'000, 'a'))) {
    }
    return false;
  });
  EXPECT_THAT(failure().message, HasSubstr("longer than"));
}

struct Refused {
  int status;
  std::string_view headers;
  std::string_view body;
  ErrorCode code;
  std::string_view says;
};

TEST_F(RemoteMind, SaysWhyItIsRefused) {
  constexpr std::array<Refused, 8> kRefused = {
      {{404, "", R"({"detail": "Not Found"})", ErrorCode::Environment, "wanted the address of"},
       {404, "", R"({"error": {"message": "model 'qwen3:8b' not found"}})", ErrorCode::Environment,
        "wanted the name of a model"},
       {429, "Retry-After: 20\r\n", R"({"error": {"message": "Rate limit reached"}})",
        ErrorCode::Busy, "Rate limit reached; it says to wait 20 s"},
       {500, "", "<html>oops</html>", ErrorCode::Io, "answers 500"},
       {503, "", "loading the model", ErrorCode::Io, "503: loading the model"},
       {307, "Location: https://elsewhere.example/v1/chat?sig=s3cret\r\n", "",
        ErrorCode::Environment, "sends on to https://elsewhere.example/v1/chat;"},
       {200, "Content-Type: text/html\r\n", "<html>", ErrorCode::Environment, "found 'text/html'"},
       {200, "Content-Type: application/json\r\n", "nonsense", ErrorCode::InvalidInput,
        "the reply"}}};
  for (const Refused& refused : kRefused) {
    mind.reset();
    serve_replies([&refused](const auto&, const auto& wire) {
      wire.answer(refused.status, refused.headers, refused.body);
      return true;
    });
    const Error error = failure();
    EXPECT_EQ(error.code, refused.code) << error.message;
    EXPECT_THAT(error.message, HasSubstr(refused.says));
    EXPECT_THAT(error.message, HasSubstr(server->url()));
    EXPECT_THAT(error.message, Not(HasSubstr("s3cret")));
  }
}

TEST_F(RemoteMind, EndsWithWhoListens) {
  serve_replies([](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    while (wire.chunk(content("word "))) {
    }
    return false;
  });
  told.stops_at = 20;
  const Error error = failure();
  EXPECT_EQ(error.code, ErrorCode::Cancelled);
  EXPECT_EQ(error.message, "it is enough");
}

TEST_F(RemoteMind, AStopEndsAServerThatStalls) {
  serve_replies([this](const auto&, const auto& wire) {
    wire.begin("text/event-stream");
    EXPECT_TRUE(wire.chunk(content("So ")));
    stop.request_stop();
    wire.wait_for_the_end();
    return false;
  });
  EXPECT_EQ(failure().code, ErrorCode::Cancelled);
}

TEST_F(RemoteMind, NamesTheModelsWhereNoneWrites) {
  serve([](const auto&, const auto& wire) {
    wire.answer(200, "", R"({"data": [{"id": "whisper-1"}, {"id": "bge-m3"}]})");
    return true;
  });
  EXPECT_THAT(failure().message, HasSubstr("found none but whisper-1, bge-m3"));
}

TEST_F(RemoteMind, ACertificateThatNobodyVouchesForIsRefused) {
  serve_tls("IP:127.0.0.1");
  const Error error = failure();
  EXPECT_EQ(error.code, ErrorCode::Environment);
  EXPECT_THAT(error.message, HasSubstr("certificate verify failed"));
  EXPECT_THAT(error.message, HasSubstr(server->url()));
  EXPECT_THAT(server->requests(), IsEmpty()) << "nothing was sent to it";
}

TEST_F(RemoteMind, ACertificateOfAnotherHostIsRefused) {
  serve_tls("DNS:example.org");
  http.ca_file = certificate();
  EXPECT_EQ(failure().code, ErrorCode::Environment);
  EXPECT_THAT(server->requests(), IsEmpty());
}

TEST_F(RemoteMind, ACertificateThatIsTrustedIsTaken) {
  serve_tls("IP:127.0.0.1");
  http.ca_file = certificate();
  key = "sk-secret-1";
  const auto replied = ask();
  ASSERT_TRUE(replied) << replied.error().message;
  EXPECT_EQ(told.content, "Safe.");
}

TEST_F(RemoteMind, AKeyGoesNowhereUnencrypted) {
  Service open{.address = *parse_service_address("http://192.0.2.7:8000"),
               .option = "llm",
               .key = "sk-secret-1"};
  const auto opened = remote_mind(std::move(open), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Usage);
  EXPECT_THAT(opened.error().message, HasSubstr("https"));
}

}  // namespace
}  // namespace mynah::talk
