// ByteConnection: bytes to and from a ByteSession. Of the network's thread.
#pragma once

#include <memory>

#include "server/net/byte_session.h"
#include "server/net/stream.h"

namespace mynah::server {

class ByteConnection : public std::enable_shared_from_this<ByteConnection> {
 public:
  // The threads must outlive it.
  // `stall`: how long a client may take nothing.
  ByteConnection(const boost::asio::any_io_executor& executor, std::unique_ptr<Stream> stream,
                 const ByteSessionMaker& make, WorkThreads& threads,
                 std::chrono::milliseconds stall);

  // Carries bytes until the client leaves, or the session wants no more.
  boost::asio::awaitable<void> run();

  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  boost::asio::awaitable<void> read();
  boost::asio::awaitable<void> send();
  void close(bool reset);

  boost::asio::any_io_executor executor_;
  std::unique_ptr<Stream> stream_;
  Event changed_;  // there is something to send, or room to read
  Event room_;
  Watch watch_;
  const std::chrono::milliseconds stall_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // as long as it is
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<ByteSession> session_;
  bool over_ = false;
  bool wants_more_ = true;
};

}  // namespace mynah::server
