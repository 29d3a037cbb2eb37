// Which handler answers what.
#include "server/router.h"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;

Response tell(const RequestHead& /*head*/, const Error& error) {
  return {.status = error.code == ErrorCode::NotFound ? 404 : 400, .body = error.message};
}

Handler says(std::string text) {
  return [text = std::move(text)](Exchange& exchange) { exchange.answer({.body = text}); };
}

class Routing : public ::testing::Test {
 protected:
  Router router(GateOptions gate = {}, KeySources keys = {}) {
    keys_ = KeyRing::open(std::move(keys)).value();
    return Router(
        {{.method = "GET", .path = "/", .help = {}, .handler = says("page"), .open = Open::ToAll},
         {.method = "GET", .path = "/v1/models", .help = {}, .handler = says("list")},
         {.method = "GET", .path = "/v1/models/{name}", .help = {}, .handler = says("one")},
         {.method = "DELETE", .path = "/v1/models/{name}", .help = {}, .handler = says("gone")},
         {.method = "POST",
          .path = "/v1/models/{name}/load",
          .help = {},
          .handler = says("load"),
          .accepts = Accepts::Text},
         {.method = "GET", .path = "/v1/models/here", .help = {}, .handler = says("here")}},
        Gate(std::move(gate), *keys_, secrets_, tell), tell);
  }

  // What is answered, or "STATUS TEXT" of a refusal.
  static std::string answer(Router& router, const std::string& method, const std::string& path,
                            const std::vector<Headers::Field>& headers = {}) {
    RequestHead head;
    head.method = method;
    head.path = path;
    head.peer = "127.0.0.1";
    for (const auto& [name, value] : headers) {
      head.headers.add(name, value);
    }
    auto plan = router.plan(head);
    if (!plan) {
      return std::to_string(plan.error().status) + " " + plan.error().body;
    }
    Exchange exchange(head, {}, [] {});
    plan->handler(exchange);
    const Response response = *exchange.take_outgoing().head;
    return response.body + (head.part.empty() ? "" : " of " + head.part);
  }

  std::unique_ptr<KeyRing> keys_;
  ClientSecrets secrets_;
};

TEST_F(Routing, PathsFindTheirHandlers) {
  Router all = router();
  EXPECT_EQ(answer(all, "GET", "/"), "page");
  EXPECT_EQ(answer(all, "GET", "/v1/models"), "list");
  EXPECT_EQ(answer(all, "GET", "/v1/models/"), "list") << "a slash at the end means nothing";
  EXPECT_EQ(answer(all, "GET", "//v1/models"), "list");
  EXPECT_EQ(answer(all, "HEAD", "/v1/models"), "list");
  EXPECT_EQ(answer(all, "GET", "/v1/models/tiny.en"), "one of tiny.en");
  EXPECT_EQ(answer(all, "GET", "/v1/models/a/b"), "one of a/b") << "what is left of a path";
  EXPECT_EQ(answer(all, "DELETE", "/v1/models/tiny.en"), "gone of tiny.en");
  EXPECT_EQ(answer(all, "POST", "/v1/models/tiny.en/load"), "load of tiny.en");
  EXPECT_EQ(answer(all, "GET", "/v1/models/here"), "here") << "what is named in full comes first";
}

TEST_F(Routing, OthersAreToldWhatThereIs) {
  Router all = router();
  EXPECT_THAT(answer(all, "GET", "/models"), HasSubstr("did you mean /v1/models? The base"));
  EXPECT_THAT(answer(all, "GET", "/v1/v1/models"), HasSubstr("did you mean /v1/models?"));
  EXPECT_THAT(answer(all, "GET", "/nothing"), HasSubstr("404 there is nothing at /nothing; / has"));
  EXPECT_THAT(answer(all, "PUT", "/v1/models"),
              HasSubstr("405 wanted GET of /v1/models, found PUT"));
  EXPECT_THAT(answer(all, "POST", "/v1/models/x"), HasSubstr("405 wanted GET, DELETE of"));
  RequestHead head;
  head.method = "POST";
  head.path = "/v1/models";
  EXPECT_EQ(all.plan(head).error().headers.get("allow"), "GET");
  // What stands behind braces is none of what they take.
  EXPECT_THAT(answer(all, "GET", "/v1/models/x/load"), HasSubstr("405 wanted POST of"));
  head.method = "OPTIONS";
  head.path = "/v1/models/x/load";
  const auto asked = all.plan(head);
  ASSERT_TRUE(asked);
  Exchange exchange(head, {}, [] {});
  asked->handler(exchange);
  EXPECT_EQ(exchange.take_outgoing().head->headers.get("allow"), "POST");
}

TEST_F(Routing, TheGateStandsBeforeThem) {
  Router locked = router({.cors = {"https://talk.example"}}, {.secrets = {"k"}});
  EXPECT_THAT(answer(locked, "GET", "/v1/models"), HasSubstr("401 "));
  EXPECT_EQ(answer(locked, "GET", "/v1/models", {{"Authorization", "Bearer k"}}), "list");
  EXPECT_EQ(answer(locked, "GET", "/"), "page") << "it asks for the key itself";
  EXPECT_THAT(answer(locked, "GET", "/", {{"Host", "localhost"}, {"Origin", "http://evil"}}),
              HasSubstr("403 "));
  EXPECT_THAT(answer(locked, "GET", "/nothing", {{"Origin", "http://evil"}}), HasSubstr("403 "))
      << "on every route, and on none";
  EXPECT_EQ(answer(locked, "OPTIONS", "/v1/models", {{"Origin", "https://talk.example"}}), "")
      << "a browser asks without the key";
  Response dressed;
  RequestHead unread;
  locked.dress(unread, dressed);
  EXPECT_THAT(std::string(dressed.headers.get("x-request-id")), ::testing::StartsWith("req_"));
  ASSERT_NE(unread.work, nullptr);
  EXPECT_EQ(unread.work->id(), dressed.headers.get("x-request-id")) << "as the log calls it";
  EXPECT_EQ(dressed.headers.get("x-content-type-options"), "nosniff");
}

TEST_F(Routing, AnswersAreDressedWithWhatIsKnownOfTheirRequest) {
  Router all = router();
  all.retry_after([] { return std::chrono::milliseconds(2'500); });
  RequestHead head;
  head.method = "GET";
  head.path = "/v1/models";
  head.headers.add("X-Request-Id", "mine");
  ASSERT_TRUE(all.plan(head));
  EXPECT_EQ(head.route, "/v1/models");
  Response busy;
  busy.status = 429;
  all.dress(head, busy);
  EXPECT_EQ(busy.headers.get("x-request-id"), "mine");
  EXPECT_EQ(busy.headers.get("retry-after-ms"), "2500");
  EXPECT_EQ(busy.headers.get("retry-after"), "3");
  EXPECT_FALSE(busy.headers.has("x-mynah-queue-ms")) << "no model has computed for it";
  head.work->begin();
  Response limited;
  limited.status = 429;
  limited.headers.set("retry-after-ms", "7");
  all.dress(head, limited);
  EXPECT_EQ(limited.headers.get("retry-after-ms"), "7") << "whoever knows better says it";
  EXPECT_TRUE(limited.headers.has("x-mynah-queue-ms"));
  head.headers.set("X-Request-Id", "a b");
  ASSERT_TRUE(all.plan(head));
  EXPECT_THAT(head.work->id(), ::testing::StartsWith("req_"));
}

TEST_F(Routing, ABasePathIsTakenOff) {
  Router all = router();
  all.set_base_path("/x");
  EXPECT_EQ(answer(all, "GET", "/x/v1/models"), "list");
  EXPECT_EQ(answer(all, "GET", "/x/"), "page");
  EXPECT_EQ(answer(all, "GET", "/v1/models"), "list") << "whoever stands behind the proxy";
  EXPECT_THAT(answer(all, "GET", "/xv1/models"), HasSubstr("404 "));
  RequestHead head;
  head.method = "GET";
  head.path = "/x";
  const auto moved = all.plan(head);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().headers.get("location"), "/x/");
}

TEST(JsonText, ThatIsNoneSaysWhere) {
  EXPECT_EQ(json_fault(R"({"a": 1})"), "");
  EXPECT_EQ(json_fault("[1]"), "");
  EXPECT_EQ(json_fault("{"), "what is no JSON near byte 1 of 1");
  EXPECT_EQ(json_fault(R"({"a": 1,})"), "what is no JSON near byte 9 of 9");
  EXPECT_EQ(json_fault("{'a': 1}"), "what is no JSON near byte 2 of 8");
  EXPECT_THAT(json_fault(std::string(1'000'000, '[')), HasSubstr("64 deep"));
  std::string many = "[0";
  for (int i = 0; i < 600'000; ++i) {
    many += ",0";
  }
  EXPECT_THAT(json_fault(many + "]"), HasSubstr("500000 values"));
}

TEST(JsonText, IsAnObjectThatNestsAsClientsDo) {
  EXPECT_EQ(parse_object(R"({"a": "[[[\"{", "b": [1]})")["b"][0], 1);
  EXPECT_FALSE(parse_object("{").is_object());
  EXPECT_FALSE(parse_object("[1]").is_object());
  EXPECT_FALSE(parse_object(R"({"a": )" + std::string(1'000'000, '[')).is_object());
  EXPECT_FALSE(
      parse_object(R"({"a": )" + std::string(100, '[') + std::string(100, ']') + "}").is_object());
  EXPECT_TRUE(
      parse_object(R"({"a": )" + std::string(60, '[') + std::string(60, ']') + "}").is_object());
}

}  // namespace
}  // namespace mynah::server
