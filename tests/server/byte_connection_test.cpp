// Clients of protocols that are no HTTP.
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "server/client.h"
#include "server/http/front.h"
#include "server/net/network.h"

namespace mynah::server {
namespace {

// Nobody speaks HTTP here.
class NoFront final : public Front {
 public:
  std::expected<Plan, Response> plan(RequestHead& /*head*/) override {
    return std::unexpected(Response{.status = 404, .body = {}});
  }

  Response refusal(const RequestHead& /*head*/, const Error& error) const override {
    return {.status = 400, .body = error.message};
  }

  void dress(RequestHead& /*head*/, Response& /*response*/) override {}
};

// Answers every byte with the same.
class EchoSession final : public ByteSession {
 public:
  explicit EchoSession(std::shared_ptr<Outbox> outbox) : outbox_(std::move(outbox)) {}

  bool take(std::string_view bytes) override {
    outbox_->end(bytes);
    return false;
  }

  [[nodiscard]] size_t backlog() const override { return 0; }

  [[nodiscard]] uint64_t message_under_way() const override { return 0; }

  void leave() override {}

 private:
  std::shared_ptr<Outbox> outbox_;
};

TEST(ByteConnection, LetsInWhoMayCome) {
  NoFront front;
  const auto network = *Network::listen({.port = 0}, front);
  const ByteSessionMaker make = [](const std::string& peer, const std::shared_ptr<Outbox>& outbox,
                                   WorkThreads& /*threads*/) {
    EXPECT_EQ(peer, "127.0.0.1");
    return std::make_shared<EchoSession>(outbox);
  };
  for (const bool may : {true, false}) {
    ASSERT_TRUE(network->listen_also("127.0.0.1", 0, make, [may](const std::string& peer) {
      return may && peer == "127.0.0.1";
    }));
  }
  const std::jthread thread([&network] { network->run(); });
  test::Client guest(network->other_addresses().front());
  guest.send("hello");
  EXPECT_EQ(guest.rest(), "hello");
  test::Client stranger(network->other_addresses().back());
  stranger.send("hello");
  EXPECT_EQ(stranger.rest(), "");
  network->stop();
}

// Sends without end.
class FloodSession final : public ByteSession {
 public:
  // `ended`: counted down once nothing more is taken.
  FloodSession(const std::shared_ptr<Outbox>& outbox, WorkThreads& threads, std::latch& ended) {
    EXPECT_TRUE(threads.run([outbox, &ended] {
      while (outbox->write(std::string(1U << 16U, 'f'))) {
      }
      ended.count_down();
    }));
  }

  bool take(std::string_view /*bytes*/) override { return true; }

  [[nodiscard]] size_t backlog() const override { return 0; }

  [[nodiscard]] uint64_t message_under_way() const override { return 0; }

  void leave() override {}
};

TEST(ByteConnection, DropsWhoeverTakesNothing) {
  NoFront front;
  NetworkOptions options;
  options.port = 0;
  options.connection.times.stall = std::chrono::milliseconds(50);
  const auto network = *Network::listen(options, front);
  std::latch ended(1);
  const ByteSessionMaker make = [&ended](const std::string& /*peer*/,
                                         const std::shared_ptr<Outbox>& outbox,
                                         WorkThreads& threads) {
    return std::make_shared<FloodSession>(outbox, threads, ended);
  };
  ASSERT_TRUE(network->listen_also("127.0.0.1", 0, make, {}));
  const test::Client takes_nothing(network->other_addresses().front());
  const std::jthread thread([&network] { network->run(); });
  ended.wait();
  network->stop();
}

}  // namespace
}  // namespace mynah::server
