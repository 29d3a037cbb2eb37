// A server that is asked again and again over one connection, which it may close at any time.
#include "store/http_client.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/scripted_server.h"

namespace mynah {
namespace {

using ::testing::HasSubstr;
using testing::ScriptedRequest;
using testing::ScriptedServer;
using testing::ScriptedWire;

struct Asked {
  Result<HttpAnswer> answer;
  std::string body;
};

Asked ask(HttpClient& client, HttpQuestion question, const std::stop_token& stop = {}) {
  Asked asked;
  asked.answer = client.ask(
      question,
      [&](std::span<const std::byte> piece) -> Status {
        asked.body.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return {};
      },
      stop);
  return asked;
}

HttpQuestion post(bool repeatable) {
  static const std::string body = "{}";
  HttpQuestion question{.target = "/do", .headers = {}, .type = "application/json", .body = {}};
  question.body = std::as_bytes(std::span(body));
  question.repeatable = repeatable;
  return question;
}

HttpClient client_of(const ScriptedServer& server) {
  return {*parse_url(server.url()), {}};
}

TEST(HttpClient, KeepsItsConnection) {
  const ScriptedServer server([](const ScriptedRequest& request, const ScriptedWire& wire) {
    wire.answer(200, "", std::to_string(request.connection));
    return true;
  });
  HttpClient client(*parse_url(server.url()), {});
  EXPECT_EQ(ask(client, post(false)).body, "1");
  EXPECT_EQ(ask(client, post(false)).body, "1");
}

TEST(HttpClient, AsksOverANewConnectionWhereThatWhichRestedWasClosed) {
  const ScriptedServer server([](const ScriptedRequest& request, const ScriptedWire& wire) {
    wire.answer(200, "", std::to_string(request.connection));
    return false;
  });
  HttpClient client(*parse_url(server.url()), {});
  EXPECT_EQ(ask(client, post(true)).body, "1");
  EXPECT_EQ(ask(client, post(true)).body, "2");
}

// It takes the second request and leaves without a word: nobody knows what it has done.
class LeavesWithoutAnswer : public ::testing::Test {
 protected:
  ScriptedServer server{[](const ScriptedRequest& request, const ScriptedWire& wire) {
    if (request.connection == 1 && request.header("x-second") == "1") {
      return false;
    }
    wire.answer(200, "", std::to_string(request.connection));
    return true;
  }};
};

TEST_F(LeavesWithoutAnswer, APostIsNotAskedTwice) {
  HttpClient client(*parse_url(server.url()), {});
  EXPECT_EQ(ask(client, post(false)).body, "1");
  HttpQuestion second = post(false);
  second.headers = {{"X-Second", "1"}};
  const auto asked = ask(client, second);
  ASSERT_FALSE(asked.answer);
  EXPECT_EQ(asked.answer.error().code, ErrorCode::Io);
  EXPECT_THAT(asked.answer.error().message, HasSubstr("no answer"));
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(LeavesWithoutAnswer, WhatOnlyComputesIs) {
  HttpClient client(*parse_url(server.url()), {});
  EXPECT_EQ(ask(client, post(true)).body, "1");
  HttpQuestion second = post(true);
  second.headers = {{"X-Second", "1"}};
  EXPECT_EQ(ask(client, second).body, "2");
  HttpQuestion get{.target = "/", .headers = {{"X-Second", "1"}}, .type = {}, .body = {}};
  EXPECT_EQ(ask(client, get).body, "2");
}

TEST(HttpClient, AStopThatComesLateDoesNotEndTheNextExchange) {
  const ScriptedServer server([](const ScriptedRequest& request, const ScriptedWire& wire) {
    wire.answer(200, "", std::to_string(request.connection));
    return true;
  });
  HttpClient client(*parse_url(server.url()), {});
  std::stop_source first;
  EXPECT_EQ(ask(client, post(false), first.get_token()).body, "1");
  first.request_stop();
  EXPECT_EQ(ask(client, post(false)).body, "1");
}

TEST(HttpClient, WaitsForNoEndOnceItHasEnough) {
  const ScriptedServer server([](const ScriptedRequest& request, const ScriptedWire& wire) {
    wire.begin("text/plain");
    EXPECT_TRUE(wire.chunk("all"));
    if (request.connection == 2) {
      wire.wait_for_the_end();
    }
    wire.end();
    return true;
  });
  for (const int connection : {1, 2}) {
    HttpClient client = client_of(server);
    std::string body;
    HttpQuestion question = post(false);
    question.is_enough = [&] { return body == "all"; };
    const auto answer =
        client.ask(question,
                   [&](std::span<const std::byte> piece) -> Status {
                     body.append(reinterpret_cast<const char*>(piece.data()), piece.size());
                     return {};
                   },
                   {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->head.status, 200) << connection;
    EXPECT_EQ(body, "all");
  }
}

}  // namespace
}  // namespace mynah
