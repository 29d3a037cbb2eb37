#include "server/net/message_connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace mynah::server {
namespace {

namespace asio = boost::asio;

// What a client sent and nobody dealt with: a minute of 16-bit sound in base64.
constexpr size_t kMostWaiting = size_t{4} << 20;

constexpr std::chrono::seconds kPingEvery{20};
// A client that answers no ping for so long is dead, whatever its socket says.
constexpr std::chrono::seconds kSilence{60};
// Its answer to a close.
constexpr std::chrono::seconds kFarewell{2};

}  // namespace

MessageConnection::MessageConnection(Wire wire, const RequestHead& head,
                                     const MessageSessionMaker& make, WorkThreads& threads)
    : wire_(std::move(wire)), changed_(wire_.executor), next_ping_(Clock::now() + kPingEvery) {
  // It is not shared yet, as weak_from_this() would want.
  outbox_ = std::make_shared<Outbox>(
      [executor = wire_.executor, this, alive = std::weak_ptr<char>(alive_)] {
        asio::post(executor, [this, alive] {
          if (const auto still = alive.lock()) {
            changed_.notify();
            if (reading_) {
              wire_.came.notify();
            }
          }
        });
      });
  session_ = make(head, outbox_, threads);
}

asio::awaitable<void> MessageConnection::run() {
  const auto self = shared_from_this();
  asio::co_spawn(wire_.executor, [self] { return self->read(); }, asio::detached);
  co_await send();
  leave();
  co_await wait_for_close();
}

void MessageConnection::leave() {
  outbox_->leave();
  session_->leave();
}

void MessageConnection::bid_farewell() {
  begin_to_close(CloseCode::Restart, "the server ends");
}

void MessageConnection::begin_to_close(CloseCode code, std::string_view reason) {
  if (!farewell_) {
    farewell_ = close_message(code, reason);
    changed_.notify();
  }
}

bool MessageConnection::take_inbox() {
  last_came_ = Clock::now();
  MessageReader::Taken taken = reader_.take(wire_.inbox);
  wire_.inbox.clear();
  wire_.room.notify();
  for (SocketMessage& message : taken.messages) {
    switch (message.kind) {
      case MessageKind::Text:
        session_->take(std::move(message.payload));
        break;
      case MessageKind::Binary:
        begin_to_close(CloseCode::NotTaken, "wanted messages of text");
        return false;
      case MessageKind::Ping:
        pong_ = std::move(message.payload);
        break;
      case MessageKind::Pong:
        break;
      case MessageKind::Close:
        closed_ = true;
        begin_to_close(message.code, {});
        return false;
    }
  }
  if (taken.fault) {
    begin_to_close(taken.fault->code, taken.fault->reason);
    return false;
  }
  changed_.notify();
  return true;
}

asio::awaitable<void> MessageConnection::read() {
  const auto self = shared_from_this();
  while (!wire_.gone && !farewell_) {
    const bool too_much = session_->backlog() > kMostWaiting;
    if (too_much || wire_.inbox.empty()) {
      co_await wire_.came.wait(Clock::time_point::max());
    } else if (!take_inbox()) {
      break;
    }
  }
  reading_ = false;
  changed_.notify();
}

bool MessageConnection::watch(Clock::time_point now) {
  if (session_->backlog() > kMostWaiting) {
    last_came_ = now;  // nothing is read
  }
  return now - last_came_ < kSilence;
}

asio::awaitable<void> MessageConnection::send() {
  std::string bytes;
  while (!wire_.gone) {
    const auto now = Clock::now();
    if (!watch(now)) {
      co_return;
    }
    if (const auto due = session_->due(); due && *due <= now) {
      session_->on_time();
    }
    Outbox::Taken next = outbox_->take();
    bytes = std::move(next.bytes);
    if (pong_) {
      bytes += pong_message(*std::exchange(pong_, std::nullopt));
    }
    if (now >= next_ping_) {
      next_ping_ = now + kPingEvery;
      bytes += ping_message({});
    }
    const bool last = farewell_ || next.over;
    if (farewell_ && !next.over) {
      bytes += *farewell_;
    }
    if (!bytes.empty()) {
      const bool sent = co_await wire_.write(bytes);
      if (!sent) {
        co_return;
      }
    }
    if (last) {
      co_return;
    }
    if (bytes.empty()) {
      const auto due = session_->due().value_or(Clock::time_point::max());
      co_await changed_.wait(std::min(due, next_ping_));
    }
  }
}

asio::awaitable<void> MessageConnection::wait_for_close() {
  farewell_ = farewell_.value_or(std::string());  // read() ends
  const auto until = Clock::now() + kFarewell;
  while (reading_) {
    wire_.came.notify();
    co_await changed_.wait(until);
  }
  // What it still sends is read: a socket that is closed with bytes unread is reset, and the
  // farewell is lost with it.
  while (!closed_ && !wire_.gone && Clock::now() < until) {
    const MessageReader::Taken taken = reader_.take(wire_.inbox);
    wire_.inbox.clear();
    wire_.room.notify();
    closed_ = std::ranges::any_of(taken.messages, [](const SocketMessage& message) {
      return message.kind == MessageKind::Close;
    });
    if (!closed_) {
      co_await wire_.came.wait(until);
    }
  }
}

}  // namespace mynah::server
