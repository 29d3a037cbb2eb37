// Who may ask a server.
#include "server/access/gate.h"

#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::server {
namespace {

using ::testing::HasSubstr;

// A gate and its keys.
struct Guarded {
  std::unique_ptr<KeyRing> keys;
  std::unique_ptr<ClientSecrets> secrets;
  Gate gate;
};

Guarded guarded(GateOptions options, KeySources sources = {}) {
  auto keys = KeyRing::open(std::move(sources));
  auto secrets = std::make_unique<ClientSecrets>();
  KeyRing& ring = **keys;
  ClientSecrets& waiting = *secrets;
  return {.keys = *std::move(keys),
          .secrets = std::move(secrets),
          .gate = Gate(std::move(options), ring, waiting,
                       [](const RequestHead& /*head*/, const Error& error) {
                         return Response{.body = error.message};
                       })};
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
  const auto [keys, secrets, closed] =
      guarded({.cors = {"https://talk.example"}, .names = {"mynah.lan"}});
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
  const auto [keys, secrets, closed] = guarded({.names = {"mynah.lan"}});
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
  Guarded locked = guarded({}, {.secrets = {"one", "two"}, .file = {}});
  const auto status = [&](std::vector<Headers::Field> fields, Open to = Open::WithKey) {
    RequestHead head = from(std::move(fields));
    return status_of(locked.gate.admit(head, to, {}));
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
  EXPECT_EQ(status({{"Authorization", "Basic YmF6YXJyOnR3bw=="}}), 200) << "bazarr:two";
  EXPECT_EQ(status({{"Authorization", "basic OnR3bw=="}}), 200) << ":two";
  EXPECT_EQ(status({{"Authorization", "Basic dHdvOg=="}}), 401) << "two:";
  EXPECT_EQ(status({{"Authorization", "Basic dHdv"}}), 401) << "two";
  EXPECT_EQ(status({{"Authorization", "Basic two"}}), 401);
  RequestHead without = from({});
  EXPECT_EQ(locked.gate.admit(without, Open::WithKey, {})->headers.get("www-authenticate"),
            "Bearer");
}

TEST(Gate, RightsAreAskedOfKeys) {
  Guarded locked = guarded({}, {.secrets = {"one"}, .file = {}});
  RequestHead head = from({{"Authorization", "Bearer one"}});
  EXPECT_EQ(status_of(locked.gate.admit(head, Open::WithKey, {Right::Hear, Right::Speak})), 200);
  EXPECT_EQ(head.owner, "environment-1");
  EXPECT_TRUE(head.rights == kUsualRights);
  RequestHead other = from({{"Authorization", "Bearer one"}});
  const auto refused = locked.gate.admit(other, Open::WithKey, {Right::Admin});
  EXPECT_EQ(status_of(refused), 403);
  EXPECT_THAT(refused->body, HasSubstr("wants admin"));
  EXPECT_EQ(other.owner, "") << "what was not let in counts as nobody's";
}

TEST(Gate, WithoutKeysOthersThanThisMachineChangeNothing) {
  Guarded open = guarded({});
  RequestHead here = from({});
  EXPECT_EQ(status_of(open.gate.admit(here, Open::WithKey, {Right::Admin})), 200);
  RequestHead elsewhere = from({});
  elsewhere.peer = "192.168.1.7";
  EXPECT_EQ(status_of(open.gate.admit(elsewhere, Open::WithKey, {Right::Hear})), 200);
  EXPECT_EQ(status_of(open.gate.admit(elsewhere, Open::WithKey, {Right::Models})), 403);
}

TEST(Gate, AClientSecretOpensOneSocket) {
  Guarded locked = guarded({}, {.secrets = {"one"}, .file = {}});
  const auto secret = locked.secrets->make(
      {.owner = {.name = "kitchen", .rights = {Right::Hear}}, .session = R"({"type":"x"})"});
  ASSERT_TRUE(secret);
  const auto asked = [&] {
    return from({{"Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key." + *secret}});
  };
  RequestHead no_socket = asked();
  EXPECT_EQ(status_of(locked.gate.admit(no_socket, Open::WithKey, {Right::Hear})), 401);
  RequestHead socket = asked();
  EXPECT_EQ(status_of(locked.gate.admit(socket, Open::WithKey, {Right::Hear}, true)), 200);
  EXPECT_EQ(socket.owner, "kitchen");
  EXPECT_EQ(socket.session, R"({"type":"x"})");
  RequestHead again = asked();
  EXPECT_EQ(status_of(locked.gate.admit(again, Open::WithKey, {Right::Hear}, true)), 401);
}

TEST(Gate, TenWrongKeysAreEnough) {
  Guarded locked = guarded({}, {.secrets = {"one", "two"}, .file = {}});
  const auto status = [&](const std::string& peer, const std::string& key) {
    RequestHead head = from({{"X-API-Key", key}});
    head.peer = peer;
    return status_of(locked.gate.admit(head, Open::WithKey, {}));
  };
  EXPECT_EQ(status("2001:db8::1", "one"), 200);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(status("2001:db8::2", "wrong"), 401) << i;
  }
  EXPECT_EQ(status("2001:db8::3", "wrong"), 429) << "another address of the same network's half";
  EXPECT_EQ(status("2001:db8::3", "two"), 429) << "or a right one would be found by trying";
  EXPECT_EQ(status("2001:db8::3", "one"), 200) << "this one came from there before";
  EXPECT_EQ(status("2001:db9::3", "wrong"), 401);
  RequestHead head = from({{"X-API-Key", "wrong"}});
  head.peer = "2001:db8::2";
  const auto refused = locked.gate.admit(head, Open::WithKey, {});
  EXPECT_NE(refused->headers.get("retry-after-ms"), "");
  EXPECT_THAT(refused->body, ::testing::ContainsRegex("none is looked at for [1-6][0-9]? s"));
}

TEST(Gate, ABrowserIsToldWhatAPageMayDo) {
  const auto [keys, secrets, closed] = guarded({.cors = {"https://talk.example"}});
  const RequestHead page = from({{"Host", "localhost"},
                                 {"Origin", "https://talk.example"},
                                 {"Access-Control-Request-Headers", "x-stainless-os"}});
  Response allowed = closed.preflight(page, "GET, POST");
  closed.dress(page, allowed);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.headers.get("Access-Control-Allow-Origin"), "https://talk.example");
  EXPECT_EQ(allowed.headers.get("Access-Control-Allow-Methods"), "GET, POST");
  EXPECT_EQ(allowed.headers.get("Access-Control-Allow-Headers"), "x-stainless-os");
  for (const char* header : {"X-Mynah-Voice", "X-Mynah-Ignored", "X-Mynah-Shared",
                             "X-Mynah-Queue-Ms", "Server-Timing", "retry-after-ms"}) {
    EXPECT_THAT(std::string(allowed.headers.get("Access-Control-Expose-Headers")),
                HasSubstr(header));
  }
  Response other;
  closed.dress(from({{"Host", "localhost"}, {"Origin", "http://localhost"}}), other);
  EXPECT_FALSE(other.headers.has("Access-Control-Allow-Origin"));
}

}  // namespace
}  // namespace mynah::server
