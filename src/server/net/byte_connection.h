// ByteConnection: bytes to and from a ByteSession. Of the network's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "server/net/byte_session.h"
#include "server/net/stream.h"

namespace mynah::server {

class ByteConnection : public std::enable_shared_from_this<ByteConnection> {
 public:
  using Clock = std::chrono::steady_clock;

  // The threads must outlive it.
  // `peer`: the client's address. `stall`: how long it may take nothing, and for a message that it
  // has begun.
  ByteConnection(const boost::asio::any_io_executor& executor, std::unique_ptr<Stream> stream,
                 const std::string& peer, const ByteSessionMaker& make, WorkThreads& threads,
                 std::chrono::milliseconds stall);

  // Carries bytes until the client leaves, or the session wants no more.
  boost::asio::awaitable<void> run();

  void stop();

  // The client is gone, as far as this server is concerned.
  void drop() { close(true); }

  // Since when the client is waited for: it is to say something, or to take what it is told.
  [[nodiscard]] Clock::time_point waits_since() const;

  // Since when it is to take what it is told.
  [[nodiscard]] Clock::time_point writes_since() const { return writes_since_; }

  // Of the threads: whose it has.
  [[nodiscard]] const std::string& share() const { return peer_; }

 private:
  boost::asio::awaitable<void> read();
  boost::asio::awaitable<void> send();
  void close(bool reset);
  // Resets the connection unless the watch ends in time.
  void watch(Watch& watch);
  void watch_message();

  boost::asio::any_io_executor executor_;
  std::unique_ptr<Stream> stream_;
  const std::string peer_;
  Event changed_;  // there is something to send, or room to read
  Event room_;
  Watch watch_;    // of a client that takes nothing
  Watch reading_;  // of one that does not come to the end of what it says
  const std::chrono::milliseconds stall_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // as long as it is
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<ByteSession> session_;
  Clock::time_point came_ = Clock::now();  // the last of its bytes
  Clock::time_point writes_since_ = Clock::time_point::max();
  bool over_ = false;
  bool wants_more_ = true;
  uint64_t under_way_ = 0;  // the message that is watched
};

}  // namespace mynah::server
