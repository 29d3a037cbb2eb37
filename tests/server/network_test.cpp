// Connections: requests over sockets, and what becomes of them when clients do as they please.
#include "server/net/network.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/client.h"
#include "server/http/front.h"

namespace mynah::server {
namespace {

using test::Client;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Answers what its path says.
class FakeFront final : public Front {
 public:
  std::expected<Plan, Response> plan(RequestHead& head) override {
    head.owner = head.headers.get("owner");
    if (head.path == "/refused") {
      return std::unexpected(Response{.status = 403, .body = "no"});
    }
    if (head.path == "/echo") {
      return Plan{.accepts = Accepts::Text, .handler = [](Exchange& exchange) {
                    exchange.answer({.type = "text/plain", .body = exchange.body().text});
                  }};
    }
    if (head.path == "/form") {
      return Plan{.accepts = Accepts::Form, .handler = [](Exchange& exchange) {
                    exchange.answer({.body = std::to_string(exchange.body().files.size())});
                  }};
    }
    if (head.path == "/pieces") {
      return Plan{.accepts = Accepts::Nothing, .handler = [](Exchange& exchange) {
                    exchange.begin({.type = "text/plain"});
                    for (const char* piece : {"one ", "two ", "three"}) {
                      static_cast<void>(exchange.write(piece));
                    }
                    exchange.end();
                  }};
    }
    if (head.path == "/broken") {
      return Plan{.accepts = Accepts::Nothing, .handler = [](Exchange& exchange) {
                    exchange.begin({.type = "text/plain", .body = "half"});
                    exchange.break_off();
                  }};
    }
    if (head.path == "/flood") {
      return Plan{.accepts = Accepts::Nothing, .handler = [this](Exchange& exchange) {
                    exchange.begin({.type = "text/plain"});
                    const std::string piece(1U << 16U, 'f');
                    while (exchange.write(piece)) {
                      written_ += piece.size();
                    }
                    ended("flood" + exchange.head().owner);
                  }};
    }
    if (head.path == "/json" || head.path == "/fails" || head.path == "/events") {
      return Plan{.accepts = Accepts::Nothing,
                  .handler = [this](Exchange& exchange) { answer_late(exchange); }};
    }
    if (head.path == "/wait") {
      return Plan{.accepts = Accepts::Nothing,
                  .handler = [this](Exchange& exchange) { wait(exchange); }};
    }
    return Plan{.accepts = Accepts::Nothing, .handler = [](Exchange& /*exchange*/) {}};
  }

  Response refusal(const RequestHead& /*head*/, const Error& error) const override {
    return {.status = error.code == ErrorCode::Busy ? 429 : 400, .body = error.message};
  }

  void dress(RequestHead& /*head*/, Response& response) override {
    response.headers.set("Dressed", "yes");
  }

  // Ends when the client leaves, or go_on() is called.
  void wait(Exchange& exchange) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    const bool went_on = changed_.wait(lock, exchange.stop(), [this] { return goes_on_; });
    --waiting_;
    lock.unlock();
    exchange.answer({.body = went_on ? "went on" : "stopped"});
    ended(went_on ? "went on" : "stopped");
  }

  // Has its client sent something until go_on() is called.
  void answer_late(Exchange& exchange) {
    const bool events = exchange.head().path == "/events";
    exchange.fill_with(
        {.type = events ? "text/event-stream" : "application/json"},
        [events] { return std::string(events ? ": waiting\n\n" : " "); }, events);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, exchange.stop(), [this] { return goes_on_; });
    }
    if (events) {
      exchange.begin({.type = "text/event-stream", .body = "data: 1\n\n"});
      exchange.end();
    } else if (exchange.head().path == "/fails") {
      exchange.answer({.status = 503, .body = "no"});
    } else {
      exchange.answer({.body = "{}"});
    }
  }

  void go_on() {
    const std::lock_guard lock(mutex_);
    goes_on_ = true;
    changed_.notify_all();
  }

  void ended(const std::string& how) {
    const std::lock_guard lock(mutex_);
    ended_.push_back(how);
    changed_.notify_all();
  }

  // Once so many requests wait.
  void await_waiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == count; });
  }

  // How requests ended, once so many have.
  std::vector<std::string> await_ended(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.size() >= count; });
    return ended_;
  }

  [[nodiscard]] size_t written() const { return written_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int waiting_ = 0;
  bool goes_on_ = false;
  std::vector<std::string> ended_;
  std::atomic<size_t> written_{0};
};

class Serving : public ::testing::Test {
 protected:
  void serve(NetworkOptions options = {}) {
    options.port = 0;
    options.connection.limits.spool_folder = ::testing::TempDir();
    auto network = Network::listen(std::move(options), front_);
    ASSERT_TRUE(network) << network.error().message;
    network_ = *std::move(network);
    thread_ = std::jthread([this] { network_->run(); });
  }

  void TearDown() override {
    if (network_) {
      front_.go_on();
      network_->stop();
      network_->stop();
      thread_ = {};
    }
  }

  [[nodiscard]] Client client() const { return Client(network_->addresses().front()); }

  FakeFront front_;
  std::unique_ptr<Network> network_;
  std::jthread thread_;
};

TEST_F(Serving, WhoWaitsLongIsSentSomethingAndNoErrorAsAnAnswer) {
  NetworkOptions options;
  options.connection.times.silence = std::chrono::milliseconds(1);
  serve(options);
  Client json = client();
  Client fails = client();
  Client events = client();
  json.send("GET /json HTTP/1.1\r\n\r\n");
  fails.send("GET /fails HTTP/1.1\r\n\r\n");
  events.send("GET /events HTTP/1.1\r\n\r\n");
  for (Client* one : {&json, &fails}) {
    EXPECT_THAT(one->until("1\r\n \r\n1\r\n \r\n"), HasSubstr("HTTP/1.1 200 OK"));
  }
  EXPECT_THAT(events.until(": waiting\n\n\r\nb\r\n: waiting\n\n\r\n"), HasSubstr("event-stream"));
  front_.go_on();
  EXPECT_THAT(json.until("0\r\n\r\n"), HasSubstr("2\r\n{}\r\n"));
  EXPECT_THAT(fails.rest(), Not(HasSubstr("0\r\n\r\n"))) << "nobody takes it for whole";
  EXPECT_THAT(events.until("0\r\n\r\n"), HasSubstr("data: 1\n\n"));
  json.send("GET /json HTTP/1.1\r\n\r\n");
  EXPECT_THAT(json.until("{}"), HasSubstr("HTTP/1.1 200 OK")) << "another request may follow";
}

TEST_F(Serving, RequestsFollowEachOtherOnAConnection) {
  serve();
  Client client = this->client();
  // Two at once, then one in single bytes.
  client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nwor\r\n2;x=y\r\nld\r\n0\r\nTrailer: t\r\n\r\n");
  auto [head, body] = client.answer();
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"));
  EXPECT_THAT(head, HasSubstr("Dressed: yes\r\n"));
  EXPECT_EQ(body, "hello");
  EXPECT_EQ(client.answer().second, "world");
  for (const char byte : std::string_view("POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\nab")) {
    client.send({&byte, 1});
  }
  EXPECT_EQ(client.answer().second, "ab");
  client.send("HEAD /echo HTTP/1.1\r\n\r\nPOST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_THAT(client.until("\r\n\r\n"), HasSubstr("Content-Length: 0"));
  EXPECT_EQ(client.answer().second, "x");
  client.send("GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.rest(), HasSubstr("Connection: close"));
}

TEST_F(Serving, AnswersComeWholeOrInPieces) {
  serve();
  Client client = this->client();
  client.send("GET /pieces HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
  std::string body;
  while (true) {
    const size_t size = std::stoul(client.until("\r\n"), nullptr, 16);
    body += client.take(size);
    client.take(2);
    if (size == 0) {
      break;
    }
  }
  EXPECT_EQ(body, "one two three");
  client.send("GET /nothing HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.answer().second, HasSubstr("a fault of its own"));

  Client old = this->client();
  old.send("GET /pieces HTTP/1.0\r\n\r\n");
  const std::string answer = old.rest();
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\none two three"));

  Client cut = this->client();
  cut.send("GET /broken HTTP/1.1\r\n\r\n");
  EXPECT_THAT(cut.rest(), Not(HasSubstr("0\r\n\r\n"))) << "nobody takes it for whole";
}

TEST_F(Serving, WhatIsNoRequestIsRefused) {
  NetworkOptions options;
  options.connection.limits.most_text = 100;
  options.connection.limits.most_bytes = 1000;
  serve(std::move(options));
  const std::string long_head = "GET / HTTP/1.1\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n";

  const struct {
    std::string request;
    const char* status;
  } bad[] = {
      {"hello\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "400"},
      {"POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400"},
      {"POST /echo HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", "400"},
      {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;" + std::string(300'000, 'x'),
       "400"},
      {"GET %zz HTTP/1.1\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n no: fold\r\n\r\n", "400"},
      {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
      {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", "400"},
      {"POST /form HTTP/1.1\r\nContent-Length: 2\r\n\r\nab", "400"},
      {"GET /refused HTTP/1.1\r\n\r\n", "403"},
      {"POST /echo HTTP/1.1\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x'), "413"},
      {"POST /echo HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "413"},
      {long_head, "431"},
      {"GET /" + std::string(70'000, 'a') + " HTTP/1.1\r\n\r\n", "414"},
  };

  for (const auto& [request, status] : bad) {
    Client client = this->client();
    client.send(request);
    client.half_close();
    EXPECT_THAT(client.rest(), StartsWith(std::string("HTTP/1.1 ") + status))
        << request.substr(0, 80);
  }
}

TEST_F(Serving, AClientThatLeavesAnywhereHarmsNobody) {
  serve();
  const std::string request =
      "POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
      "Transfer-Encoding: chunked\r\n\r\n"
      "4a\r\n--b\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nsound\r\n--b--\r\n"
      "\r\n0\r\n\r\n";
  for (size_t sent = 0; sent <= request.size(); ++sent) {
    for (const bool reset : {false, true}) {
      Client client = this->client();
      client.send(request.substr(0, sent));
      reset ? client.abort() : client.close();
    }
  }
  Client client = this->client();
  client.send("POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\nab");
  EXPECT_EQ(client.answer().second, "ab");
}

TEST_F(Serving, WhoLeavesStopsItsRequestAndNoOther) {
  serve();
  Client stays = client();
  stays.send("GET /wait HTTP/1.1\r\n\r\n");
  front_.await_waiting(1);
  Client closes = client();
  closes.send("GET /wait HTTP/1.1\r\n\r\n");
  Client resets = client();
  resets.send("GET /wait HTTP/1.1\r\n\r\n");
  Client half = client();
  half.send("GET /wait HTTP/1.1\r\n\r\n");
  front_.await_waiting(4);
  closes.close();
  resets.abort();
  half.half_close();
  EXPECT_THAT(front_.await_ended(3), ::testing::Each("stopped"));
  front_.go_on();
  EXPECT_EQ(stays.answer().second, "went on");
}

TEST_F(Serving, AnAnswerWaitsForWhoTakesItSlowly) {
  serve();
  Client client = this->client();
  client.send("GET /flood HTTP/1.1\r\n\r\n");
  client.until("\r\n\r\n");
  constexpr size_t kTaken = size_t{32} << 20;
  client.take(kTaken);
  EXPECT_LT(front_.written(), kTaken + (size_t{16} << 20)) << "sockets' and our own buffers";
  client.abort();
  EXPECT_THAT(front_.await_ended(1), SizeIs(1));
}

TEST_F(Serving, MoreThanThereAreThreadsForAreToldToComeAgain) {
  NetworkOptions options;
  options.most_requests = 1;
  serve(std::move(options));
  Client first = client();
  first.send("GET /wait HTTP/1.1\r\n\r\n");
  front_.await_waiting(1);
  Client second = client();
  second.send("GET /wait HTTP/1.1\r\n\r\n");
  EXPECT_THAT(second.answer().first, StartsWith("HTTP/1.1 429 "));
  front_.go_on();
  EXPECT_EQ(first.answer().second, "went on");
}

TEST_F(Serving, MoreConnectionsThanAreTakenWait) {
  NetworkOptions options;
  options.most_connections = 1;
  serve(std::move(options));
  Client first = client();
  first.send("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(first.answer().second, "a");
  Client second = client();
  second.send("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nb");
  first.close();
  EXPECT_EQ(second.answer().second, "b");
}

TEST_F(Serving, WhoIsWaitedForGoesWhereOthersFindNoRoom) {
  NetworkOptions options;
  options.most_connections = 1;
  serve(std::move(options));
  Client silent = client();
  Client other = client();
  other.send("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nb");
  EXPECT_EQ(other.answer().second, "b");
}

TEST_F(Serving, WhoTakesNothingGoesWhereOthersFindNoThread) {
  NetworkOptions options;
  options.most_requests = 1;
  serve(std::move(options));
  Client takes_nothing = client();
  takes_nothing.send("GET /flood HTTP/1.1\r\n\r\n");
  std::string told;
  while (!told.starts_with("HTTP/1.1 200 ")) {  // it is not waited for long enough yet
    Client other = client();
    other.send("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nb");
    told = other.answer().first;
    ASSERT_THAT(told, ::testing::AnyOf(StartsWith("HTTP/1.1 200 "), StartsWith("HTTP/1.1 429 ")));
  }
  EXPECT_THAT(front_.await_ended(1), ::testing::ElementsAre("flood"));
  EXPECT_LT(front_.written(), size_t{1} << 20) << "for a client that takes nothing";
}

TEST_F(Serving, WhoHasManyThreadsLosesNoneOfOthers) {
  serve({.most_requests = 5});
  const auto ask = [&](const std::string& path, const std::string& owner) {
    Client asking = client();
    asking.send("GET " + path + " HTTP/1.1\r\nOwner: " + owner + "\r\n\r\n");
    return asking;
  };
  Client waited_for_longest = ask("/flood", "b");
  waited_for_longest.until("\r\n\r\n");
  const std::array crowd = {ask("/flood", "a"), ask("/wait", "a"), ask("/wait", "a")};
  front_.await_waiting(2);
  while (!ask("/echo", "a").answer().first.starts_with("HTTP/1.1 200 ")) {
    // The thread of its last request may not have ended yet.
    while (!ask("/echo", "c").answer().first.starts_with("HTTP/1.1 200 ")) {
    }
  }
  EXPECT_THAT(front_.await_ended(1), ::testing::ElementsAre("flooda"));
}

TEST_F(Serving, WhatIsUnderWayComesToItsEndBeforeTheServerDoes) {
  serve();
  Client idle = client();
  idle.send("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  idle.answer();
  Client busy = client();
  busy.send("GET /wait HTTP/1.1\r\n\r\n");
  front_.await_waiting(1);
  network_->stop();
  EXPECT_EQ(idle.rest(), "") << "it has nothing under way";
  front_.go_on();
  const auto [head, body] = busy.answer();
  EXPECT_EQ(body, "went on");
  EXPECT_THAT(head, HasSubstr("Connection: close"));
  thread_ = {};  // the server has ended
}

TEST_F(Serving, ASecondStopEndsWhatIsUnderWay) {
  serve();
  Client busy = client();
  busy.send("GET /wait HTTP/1.1\r\n\r\n");
  front_.await_waiting(1);
  network_->stop();
  network_->stop();
  EXPECT_THAT(front_.await_ended(1), ::testing::ElementsAre("stopped"));
  thread_ = {};
}

TEST_F(Serving, SlowClientsAreDropped) {
  NetworkOptions options;
  options.connection.times = {.head = std::chrono::milliseconds(50),
                              .stall = std::chrono::milliseconds(50),
                              .idle = std::chrono::milliseconds(50)};
  serve(std::move(options));
  Client silent = client();
  Client half_a_head = client();
  half_a_head.send("GET / HTTP/1.1\r\nA");
  Client half_a_body = client();
  half_a_body.send("POST /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\nab");
  EXPECT_EQ(silent.rest(), "");
  EXPECT_THAT(half_a_head.rest(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(half_a_body.rest(), StartsWith("HTTP/1.1 408 "));
  Client takes_nothing = client();
  takes_nothing.send("GET /flood HTTP/1.1\r\n\r\n");
  EXPECT_THAT(front_.await_ended(1), ::testing::ElementsAre("flood"));
}

TEST(Listening, SaysWhyItCannot) {
  FakeFront front;
  const auto first = Network::listen({.port = 0}, front);
  ASSERT_TRUE(first);
  const std::string address = (*first)->addresses().front();
  const auto second =
      Network::listen({.port = std::stoi(address.substr(address.rfind(':') + 1))}, front);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Environment);
  EXPECT_THAT(second.error().message, HasSubstr("another server has it: take another --port"));
  const auto nowhere = Network::listen({.host = "no.such.host.invalid", .port = 0}, front);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::Usage);
}

TEST(Listening, OnAUnixSocket) {
  FakeFront front;
  const std::string path = ::testing::TempDir() + "mynah-network-test.sock";
  for (int time = 0; time < 2; ++time) {
    auto network = Network::listen({.host = path}, front);
    ASSERT_TRUE(network) << network.error().message;
    EXPECT_THAT((*network)->addresses(), ::testing::ElementsAre(path));
    EXPECT_FALSE(Network::listen({.host = path}, front)) << "one that answers is left alone";
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "it goes with the server";
}

}  // namespace
}  // namespace mynah::server
