// Who may ask a server.
#include "server/access/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::server {
namespace {

using ::testing::HasSubstr;

Gate gate(GateOptions options) {
  return Gate(std::move(options), [](const RequestHead& /*head*/, const Error& error) {
    return Response{.body = error.message};
  });
}

RequestHead from(std::vector<Headers::Field> fields) {
  RequestHead head;
  head.peer = "127.0.0.1";
  for (auto& [name, value] : fields) {
    head.headers.add(std::move(name), std::move(value));
  }
  return head;
}

int status_of(const std::optional<Response>& turned_away) {
  return turned_away ? turned_away->status : 200;
}

TEST(Gate, PagesOfOtherSitesMayNotAsk) {
  const Gate closed = gate({.cors = {"https://talk.example"}, .names = {"mynah.lan"}});
  const auto status = [&](std::vector<Headers::Field> fields) {
    return status_of(closed.check_origin(from(std::move(fields))));
  };
  EXPECT_EQ(status({}), 200) << "no browser";
  EXPECT_EQ(status({{"Host", "localhost:8080"}}), 200);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Origin", "http://localhost:8080"}}), 200);
  EXPECT_EQ(status({{"Host", "mynah.lan"}, {"Origin", "https://MYNAH.lan"}}), 200);
  EXPECT_EQ(status({{"Host", "[::1]:8080"}, {"Origin", "http://[::1]:8080"}}), 200);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Origin", "https://talk.example"}}), 200);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Origin", "http://localhost:3000"}}), 403);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Origin", "https://evil.example"}}), 403);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Origin", "null"}}), 403);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"Host", "localhost:8080"}, {"Sec-Fetch-Site", "same-origin"}}), 200);
  const auto refused =
      closed.check_origin(from({{"Host", "localhost"}, {"Origin", "https://evil.example"}}));
  EXPECT_THAT(refused->body, HasSubstr("--cors https://evil.example"));
}

TEST(Gate, ANameThatWasMadeToLeadHereIsNone) {
  const Gate closed = gate({.names = {"mynah.lan"}});
  const auto status = [&](const std::string& host) {
    // The page's own origin is that name, too: only Host tells.
    return status_of(closed.check_origin(from({{"Host", host}, {"Origin", "http://" + host}})));
  };
  EXPECT_EQ(status("127.0.0.1:8080"), 200);
  EXPECT_EQ(status("192.168.1.7"), 200) << "an address as such is nobody else's";
  EXPECT_EQ(status("[fe80::1]:8080"), 200);
  EXPECT_EQ(status("mynah.lan:8080"), 200);
  EXPECT_EQ(status("evil.example:8080"), 421);
  EXPECT_EQ(status("127.0.0.1.evil.example"), 421);
  EXPECT_EQ(status("[::1"), 421);
  RequestHead local = from({{"Host", "anything"}});
  local.peer.clear();
  EXPECT_EQ(status_of(closed.check_origin(local)), 200) << "a Unix socket has no name";
}

TEST(Gate, KeysAreWantedWhereThereAreAny) {
  const Gate open = gate({});
  EXPECT_EQ(status_of(open.check_key(from({}), Open::WithKey)), 200);
  const Gate locked = gate({.keys = {"one", "two"}});
  const auto status = [&](std::vector<Headers::Field> fields, Open to = Open::WithKey) {
    return status_of(locked.check_key(from(std::move(fields)), to));
  };
  EXPECT_EQ(status({}), 401);
  EXPECT_EQ(status({}, Open::ToAll), 200);
  EXPECT_EQ(status({{"Authorization", "Bearer one"}}), 200);
  EXPECT_EQ(status({{"authorization", "bearer  two "}}), 200);
  EXPECT_EQ(status({{"X-API-Key", "two"}}), 200);
  EXPECT_EQ(status({{"Authorization", "Bearer three"}}), 401);
  EXPECT_EQ(status({{"Authorization", "Bearer on"}}), 401);
  EXPECT_EQ(status({{"Authorization", "one"}}), 401);
  EXPECT_EQ(status({{"X-API-Key", ""}}), 401);
  EXPECT_EQ(locked.check_key(from({}), Open::WithKey)->headers.get("www-authenticate"), "Bearer");
}

TEST(Gate, ABrowserIsToldWhatAPageMayDo) {
  const Gate closed = gate({.cors = {"https://talk.example"}});
  const RequestHead page = from({{"Host", "localhost"},
                                 {"Origin", "https://talk.example"},
                                 {"Access-Control-Request-Headers", "x-stainless-os"}});
  Response allowed = closed.preflight(page, "GET, POST");
  closed.dress(page, allowed);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.headers.get("Access-Control-Allow-Origin"), "https://talk.example");
  EXPECT_EQ(allowed.headers.get("Access-Control-Allow-Methods"), "GET, POST");
  EXPECT_EQ(allowed.headers.get("Access-Control-Allow-Headers"), "x-stainless-os");
  Response other;
  closed.dress(from({{"Host", "localhost"}, {"Origin", "http://localhost"}}), other);
  EXPECT_FALSE(other.headers.has("Access-Control-Allow-Origin"));
}

}  // namespace
}  // namespace mynah::server
