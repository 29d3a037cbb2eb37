// WebSockets over connections, and what becomes of them when clients do as they please.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/front.h"
#include "server/http/websocket.h"
#include "server/net/network.h"
#include "server/net/work_threads.h"
#include "server/socket_client.h"

namespace mynah::server {
namespace {

using test::masked_frame;
using test::SocketClient;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Sessions that are under way, and what became of them.
class Watch {
 public:
  void came() {
    const std::lock_guard lock(mutex_);
    ++here_;
  }

  void left() {
    const std::lock_guard lock(mutex_);
    --here_;
    changed_.notify_all();
  }

  // Once nobody is here.
  void await_none() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return here_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;
};

// Sends back what comes, but "bye", which ends it, "slow", which nobody deals with, and "flood".
class TalkSession final : public MessageSession {
 public:
  TalkSession(Watch& watch, std::shared_ptr<Outbox> outbox, WorkThreads& threads)
      : watch_(watch), outbox_(std::move(outbox)), threads_(threads) {
    watch_.came();
  }

  ~TalkSession() override { watch_.left(); }

  void take(std::string text) override {
    if (text == "bye") {
      outbox_->end(close_message(CloseCode::Normal, "as you wish"));
    } else if (text == "soon") {
      due_ = Clock::now();
    } else if (text.starts_with("slow")) {
      backlog_ += text.size();
    } else if (text == "flood") {
      static_cast<void>(threads_.run([outbox = outbox_] {
        const std::string much = text_message(std::string(size_t{1} << 16, 'f'));
        while (outbox->write(much)) {
        }
      }));
    } else {
      static_cast<void>(outbox_->write(text_message(text)));
    }
  }

  [[nodiscard]] size_t backlog() const override { return backlog_; }

  [[nodiscard]] std::optional<Clock::time_point> due() const override { return due_; }

  void on_time() override {
    due_.reset();
    static_cast<void>(outbox_->write(text_message("it is time")));
  }

  void leave() override {}

 private:
  Watch& watch_;
  std::shared_ptr<Outbox> outbox_;
  WorkThreads& threads_;
  std::optional<Clock::time_point> due_;
  size_t backlog_ = 0;
};

class SocketFront final : public Front {
 public:
  std::expected<Plan, Response> plan(RequestHead& head) override {
    if (head.path == "/refused") {
      return std::unexpected(Response{.status = 403, .body = "no"});
    }
    Plan plan;
    plan.socket.protocol = "echo";
    plan.socket.make = [this](const RequestHead& /*head*/, const std::shared_ptr<Outbox>& outbox,
                              WorkThreads& threads) {
      return std::make_shared<TalkSession>(watch_, outbox, threads);
    };
    return plan;
  }

  [[nodiscard]] Response refusal(const RequestHead& /*head*/, const Error& error) const override {
    return {.status = 400, .body = error.message};
  }

  void dress(RequestHead& /*head*/, Response& response) override {
    response.headers.set("Dressed", "yes");
  }

  Watch& watch() { return watch_; }

 private:
  Watch watch_;
};

class Sockets : public ::testing::Test {
 protected:
  void SetUp() override {
    NetworkOptions options;
    options.port = 0;
    options.connection.times.stall = std::chrono::milliseconds(300);
    auto network = Network::listen(std::move(options), front_);
    ASSERT_TRUE(network) << network.error().message;
    network_ = *std::move(network);
    thread_ = std::jthread([this] { network_->run(); });
  }

  void TearDown() override {
    network_->stop();
    network_->stop();
    thread_ = {};
  }

  [[nodiscard]] std::string address() const { return network_->addresses().front(); }

  [[nodiscard]] SocketClient client(const std::string& more = {}) const {
    return {address(), "/", more};
  }

  // The answer to what is no good request for a WebSocket.
  [[nodiscard]] std::string answer_to(const std::string& request) const {
    test::Client client(address());
    client.send(request);
    client.half_close();  // the server waits for that once it has refused
    return client.rest();
  }

  SocketFront front_;
  std::unique_ptr<Network> network_;
  std::jthread thread_;
};

// What a server closes with.
std::string close_of(uint16_t code, std::string_view reason) {
  return {close_message(static_cast<CloseCode>(code), reason).substr(2)};
}

TEST_F(Sockets, CarryMessagesBothWays) {
  SocketClient client = this->client("Sec-WebSocket-Protocol: a, echo\r\n");
  EXPECT_THAT(client.head(), StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(client.head(), HasSubstr("Sec-WebSocket-Protocol: echo\r\n"));
  EXPECT_THAT(client.head(), HasSubstr("Dressed: yes\r\n"));
  for (const char* other : {"Content-Length", "Transfer-Encoding", "Connection: close"}) {
    EXPECT_THAT(client.head(), Not(HasSubstr(other)));
  }
  client.send("hello");
  EXPECT_EQ(client.text(), "hello");
  const std::string much(size_t{1} << 20, 'm');
  client.send(much);
  EXPECT_EQ(client.text(), much);
  client.client().send(masked_frame(0x89, "ping?"));
  EXPECT_EQ(client.frame(), std::pair(uint8_t{0x8A}, std::string("ping?")));
  client.send("soon");
  EXPECT_EQ(client.text(), "it is time");
  client.client().send(masked_frame(0x88, "\x03\xE8"));
  EXPECT_EQ(client.frame(), std::pair(uint8_t{0x88}, close_of(1000, "")));
  EXPECT_EQ(client.client().rest(), "") << "the server closes, too";
  front_.watch().await_none();
}

TEST_F(Sockets, AMessageMayComeWithTheRequest) {
  test::Client client(address());
  client.send(test::upgrade_request("/") + masked_frame(0x81, "early"));
  EXPECT_THAT(client.until("\r\n\r\n"), StartsWith("HTTP/1.1 101"));
  EXPECT_EQ(client.take(7),
            "\x81\x05"
            "early");
}

TEST_F(Sockets, SessionsEndWithAFarewell) {
  SocketClient client = this->client();
  client.send("bye");
  EXPECT_EQ(client.frame(), std::pair(uint8_t{0x88}, close_of(1000, "as you wish")));
  client.client().send(masked_frame(0x88, "\x03\xE8"));
  EXPECT_EQ(client.client().rest(), "");
}

TEST_F(Sockets, TheEndOfTheServerIsToldSoThatClientsComeAgain) {
  SocketClient client = this->client();
  network_->stop();
  EXPECT_EQ(client.frame(), std::pair(uint8_t{0x88}, close_of(1012, "the server ends")));
  client.client().send(masked_frame(0x88, "\x03\xF4"));
  EXPECT_EQ(client.client().rest(), "");
}

TEST_F(Sockets, MalformedFramesCloseWithTheirReason) {
  for (const auto& [bytes, code] :
       {std::pair(std::string("\x81\x02hi", 4), 1002), std::pair(masked_frame(0x82, "bytes"), 1003),
        std::pair(masked_frame(0x81, "\xFF"), 1007),
        std::pair(masked_frame(0x81, std::string((size_t{1} << 20) + 1, 'a')), 1009)}) {
    SocketClient client = this->client();
    client.client().send(bytes);
    const auto [first, payload] = client.frame();
    EXPECT_EQ(first, 0x88);
    EXPECT_THAT(payload, StartsWith(close_of(static_cast<uint16_t>(code), "")));
    client.client().half_close();
    EXPECT_EQ(client.client().rest(), "");
  }
}

TEST_F(Sockets, RequestsThatAreNoneAreRefused) {
  EXPECT_THAT(answer_to("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 426 Upgrade Required\r\n"));
  const std::string old = test::upgrade_request("/");
  EXPECT_THAT(answer_to(std::string(old).replace(old.find(": 13"), 4, ": 12")),
              HasSubstr("Sec-WebSocket-Version: 13\r\n"));
  EXPECT_THAT(answer_to(std::string(old).replace(0, 3, "HEAD")), StartsWith("HTTP/1.1 426"));
  EXPECT_THAT(answer_to(std::string(old).replace(old.find("/1.1"), 4, "/1.0")),
              StartsWith("HTTP/1.1 426"));
  EXPECT_THAT(answer_to(test::upgrade_request("/", "Content-Length: 2\r\n") + "hi"),
              StartsWith("HTTP/1.1 426"));
  EXPECT_THAT(answer_to(test::upgrade_request("/refused")), StartsWith("HTTP/1.1 403"));
  front_.watch().await_none();
}

TEST_F(Sockets, MayCloseAtEveryByte) {
  const std::string bytes = test::upgrade_request("/") + masked_frame(0x01, "he") +
                            masked_frame(0x89, "p") + masked_frame(0x80, "llo") +
                            masked_frame(0x88, "\x03\xE8");
  for (size_t size = 0; size <= bytes.size(); ++size) {
    test::Client client(address());
    client.send(std::string_view(bytes).substr(0, size));
    switch (size % 3) {
      case 0:
        client.close();
        break;
      case 1:
        client.abort();
        break;
      default:
        client.half_close();
        static_cast<void>(client.rest());
        break;
    }
  }
  // It still serves, and nobody is left behind.
  SocketClient client = this->client();
  client.send("alive");
  EXPECT_EQ(client.text(), "alive");
  client.client().close();
  front_.watch().await_none();
}

TEST_F(Sockets, ThoseWhoTakeNothingAreDropped) {
  SocketClient client = this->client();
  client.send("flood");
  // Nothing is read here: what does not fit into the sockets waits, and then the server closes.
  front_.watch().await_none();
  EXPECT_TRUE(client.client().send("")) << "this side still stands";
}

TEST_F(Sockets, NoMoreIsReadThanIsDealtWith) {
  SocketClient client = this->client();
  const std::string much = "slow" + std::string(size_t{1} << 19, 's');
  for (int i = 0; i < 9; ++i) {
    client.send(much);
  }
  // Above the bound: this one is not seen.
  client.client().send(masked_frame(0x89, "unseen"));
  network_->stop();
  EXPECT_EQ(client.frame(), std::pair(uint8_t{0x88}, close_of(1012, "the server ends")));
}

}  // namespace
}  // namespace mynah::server
