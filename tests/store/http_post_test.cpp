// Requests that send something, and whom they are sent to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/base64.h"
#include "store/http.h"
#include "store/sha256.h"
#include "store/test_server.h"

namespace mynah {
namespace {

using testing::answer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ServerRequest;
using testing::TestServer;

TEST(HttpPost, SendsABodyAndTellsTheStatus) {
  const TestServer server(
      [](const ServerRequest& /*request*/) { return answer(201, "", "what nobody reads"); });
  const auto status = http_post({.url = server.url("/a?b"),
                                 .headers = {{"Content-Type", "text/plain"}, {"X-Own", "yes"}},
                                 .body = "something"},
                                {}, {});
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 201);
  const ServerRequest request = server.requests().front();
  EXPECT_EQ(request.method + request.target, "POST/a?b");
  EXPECT_EQ(request.header("x-own"), "yes");
  EXPECT_EQ(request.body, "something");
}

TEST(HttpPost, FollowsNoRedirectAndTakesNoProxy) {
  const TestServer other([](const ServerRequest& /*request*/) { return answer(200, "", ""); });
  const TestServer server([&other](const ServerRequest& /*request*/) {
    return answer(307, "Location: " + other.url() + "\r\n", "");
  });
  HttpOptions options;
  options.proxies.all = other.url();
  EXPECT_EQ(http_post({.url = server.url()}, options, {}).value_or(0), 307);
  EXPECT_THAT(other.requests(), IsEmpty());
}

TEST(HttpPost, ConnectsToWhatMayBeConnectedToAlone) {
  const TestServer server([](const ServerRequest& /*request*/) { return answer(200, "", ""); });
  std::vector<std::string> asked;
  HttpOptions options;
  options.may_connect = [&asked](const std::string& address) {
    asked.push_back(address);
    return false;
  };
  const auto refused = http_post({.url = server.url()}, options, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidInput);
  EXPECT_THAT(refused.error().message, HasSubstr("127.0.0.1, which may not be connected to"));
  EXPECT_THAT(asked, ::testing::ElementsAre("127.0.0.1"));
  EXPECT_THAT(server.requests(), IsEmpty());
  options.may_connect = [](const std::string& address) { return address == "127.0.0.1"; };
  EXPECT_EQ(http_post({.url = fmt::format("http://localhost:{}/", server.port())}, options, {})
                .value_or(0),
            200);
}

TEST(Hmac, IsThatOfRfc4231) {
  const auto code = hmac_sha256("Jefe", "what do ya want for nothing?");  // test case 2
  EXPECT_EQ(base64(code), "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
}

TEST(Base64, IsReadBack) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(bytes_of_base64(base64(std::as_bytes(std::span(text)))).value_or("-"), text);
  }
  for (const char* bad : {"a", "YWI", "Y?==", "YWI=\n"}) {
    EXPECT_FALSE(bytes_of_base64(bad)) << bad;
  }
}

}  // namespace
}  // namespace mynah
