// Stream: bytes to and from a client, over TCP or a Unix socket. Of the network's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>  // before awaitable.hpp, which forgets it in Boost 1.74

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

namespace mynah::server {

class Stream {
 public:
  virtual ~Stream() = default;

  // What comes before the first byte. False: the client is none of ours; it is to be closed.
  virtual boost::asio::awaitable<bool> open() = 0;
  // 0: the client sends no more, or is gone. One read and one write may be under way.
  virtual boost::asio::awaitable<size_t> read_some(boost::asio::mutable_buffer into) = 0;
  // False: the client is gone.
  virtual boost::asio::awaitable<bool> write(boost::asio::const_buffer bytes) = 0;
  // Tells the client, where that can be told alone, that nothing more comes; what it sends is still
  // read.
  virtual void end_writing() = 0;
  // Ends what is under way. `reset`: at once, so that the client sees that something is missing.
  virtual void close(bool reset) = 0;
};

std::unique_ptr<Stream> plain_stream(boost::asio::generic::stream_protocol::socket socket);

// Somebody who is called where something takes too long.
class Watch {
 public:
  explicit Watch(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  // From now on; what it watched before it no longer does.
  void begin(std::chrono::milliseconds time, std::function<void()> too_late);

  void end() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

// Something that a coroutine of the network's thread waits for.
class Event {
 public:
  explicit Event(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  // Until notify() is called, or then. What is waited for is looked at before and behind it: it may
  // come back for nothing.
  boost::asio::awaitable<void> wait(std::chrono::steady_clock::time_point until);

  void notify() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace mynah::server
