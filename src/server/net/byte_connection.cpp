#include "server/net/byte_connection.h"

#include <array>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace mynah::server {
namespace {

namespace asio = boost::asio;

constexpr size_t kPieceOfBytes = 64U << 10U;
constexpr size_t kMostBacklog = size_t{4} << 20;

}  // namespace

ByteConnection::ByteConnection(const asio::any_io_executor& executor,
                               std::unique_ptr<Stream> stream, const std::string& peer,
                               const ByteSessionMaker& make, WorkThreads& threads,
                               std::chrono::milliseconds stall)
    : executor_(executor),
      stream_(std::move(stream)),
      peer_(peer),
      changed_(executor),
      room_(executor),
      watch_(executor),
      reading_(executor),
      stall_(stall) {
  // It is not shared yet, as weak_from_this() would want.
  outbox_ = std::make_shared<Outbox>([executor, this, alive = std::weak_ptr<char>(alive_)] {
    asio::post(executor, [this, alive] {
      if (const auto still = alive.lock()) {
        changed_.notify();
        room_.notify();
      }
    });
  });
  session_ = make(peer, outbox_, threads);
}

asio::awaitable<void> ByteConnection::run() {
  const auto self = shared_from_this();
  asio::co_spawn(executor_, [self] { return self->read(); }, asio::detached);
  co_await send();
  close(false);
}

void ByteConnection::stop() {
  close(false);
}

ByteConnection::Clock::time_point ByteConnection::waits_since() const {
  return std::min(writes_since_, session_->backlog() > 0 ? Clock::time_point::max() : came_);
}

void ByteConnection::close(bool reset) {
  if (!over_) {
    over_ = true;
    reading_.end();
    stream_->close(reset);
    outbox_->leave();
    session_->leave();
    changed_.notify();
    room_.notify();
  }
}

asio::awaitable<void> ByteConnection::read() {
  std::array<char, kPieceOfBytes> piece{};
  while (!over_ && wants_more_) {
    if (session_->backlog() > kMostBacklog) {
      reading_.end();  // it is not the client that takes long
      under_way_ = 0;
      co_await room_.wait(Clock::time_point::max());
      continue;
    }
    const size_t count = co_await stream_->read_some(asio::buffer(piece));
    if (count == 0) {
      close(false);
      co_return;
    }
    came_ = Clock::now();
    wants_more_ = session_->take({piece.data(), count});
    watch_message();
  }
  reading_.end();
}

void ByteConnection::watch(Watch& watch) {
  watch.begin(stall_, [weak = weak_from_this()] {
    if (const auto connection = weak.lock()) {
      connection->close(true);
    }
  });
}

void ByteConnection::watch_message() {
  const uint64_t under_way = session_->message_under_way();
  if (under_way == 0) {
    reading_.end();
  } else if (under_way != under_way_) {
    watch(reading_);
  }
  under_way_ = under_way;
}

asio::awaitable<void> ByteConnection::send() {
  while (!over_) {
    const Outbox::Taken next = outbox_->take();
    if (!next.bytes.empty()) {
      watch(watch_);
      writes_since_ = Clock::now();
      const bool sent =
          co_await stream_->write(asio::const_buffer(next.bytes.data(), next.bytes.size()));
      writes_since_ = Clock::time_point::max();
      came_ = Clock::now();
      watch_.end();
      if (!sent) {
        close(true);
      }
    } else if (next.over) {
      co_return;
    } else {
      co_await changed_.wait(Clock::time_point::max());
    }
  }
}

}  // namespace mynah::server
