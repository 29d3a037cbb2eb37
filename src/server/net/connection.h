// Connection: one client's requests, one after the other, over HTTP/1.1. Of the network's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "server/http/front.h"
#include "server/net/connection_settings.h"
#include "server/net/message_connection.h"
#include "server/net/stream.h"
#include "server/net/work_threads.h"

namespace mynah::server {

// Ends the connection of a client for whom a thread waits that others want: of that share, or of
// any where no thread is free. False: there is none.
using RoomMaker = std::function<bool(const std::string& share)>;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  // The front, the threads and the settings must outlive it.
  Connection(const boost::asio::any_io_executor& executor, std::unique_ptr<Stream> stream,
             std::string peer, Front& front, WorkThreads& threads,
             const ConnectionSettings& settings, const RoomMaker& make_room);
  ~Connection();

  // Serves the client until it leaves.
  boost::asio::awaitable<void> run();

  // No request follows the one that is under way.
  void drain();
  // The one that is under way ends, too.
  void stop();
  // The client is gone, as far as this server is concerned.
  void drop();

  // Since when the client is waited for: it is to ask, or to take what it is answered.
  [[nodiscard]] Clock::time_point waits_since() const {
    return std::min(waits_since_, writes_since_);
  }

  // Since when it is to take what it is answered.
  [[nodiscard]] Clock::time_point writes_since() const { return writes_since_; }

  // Of the threads: whose it has.
  [[nodiscard]] const std::string& share() const { return share_; }

 private:
  struct Request;

  // False: it is no client of ours, or takes too long to say that it is one.
  boost::asio::awaitable<bool> open();
  // The one reader: what comes is kept, so that it is seen at once that a client leaves.
  boost::asio::awaitable<void> read_ahead();
  // False: no other can follow.
  boost::asio::awaitable<bool> serve_one();
  boost::asio::awaitable<bool> read_head(Request& request);
  boost::asio::awaitable<bool> read_body(Request& request);
  boost::asio::awaitable<bool> have_handled(Request& request);
  // The connection becomes a WebSocket, until that ends. False, as no request follows.
  boost::asio::awaitable<bool> upgrade(Request& request);
  boost::asio::awaitable<bool> send_outgoing(Request& request, Exchange& exchange);
  boost::asio::awaitable<bool> send_head(Request& request, Response& head, bool whole);
  boost::asio::awaitable<bool> send_piece(Request& request, std::string& bytes, bool last);
  // Coroutines take references and numbers: g++ 12 destroys what is made in the expression that
  // awaits them twice.
  // Answers with the request's refusal; the connection is closed then.
  boost::asio::awaitable<bool> refuse(Request& request);
  // The same with an error; 0: the status that is its own.
  boost::asio::awaitable<bool> refuse_as(Request& request, int status, const Error& error);
  // The same of a client that takes too long, unless it is gone.
  boost::asio::awaitable<bool> give_up(Request& request);
  // The same, of a body that is not taken.
  boost::asio::awaitable<bool> refuse_body(Request& request, const Error& error);
  // False: no byte came beyond those of the inbox until then, or none comes any more.
  boost::asio::awaitable<bool> wait_for_more(Clock::time_point until);
  // False: the client does not take them, or is gone.
  boost::asio::awaitable<bool> write(std::string_view bytes);
  // Closes the connection then, unless the watch has ended.
  void watch(std::chrono::milliseconds time);
  void close(bool reset);

  boost::asio::any_io_executor executor_;
  std::unique_ptr<Stream> stream_;
  std::string peer_;
  std::string share_;  // that of the request under way
  Front& front_;
  WorkThreads& threads_;
  const ConnectionSettings& settings_;
  const RoomMaker& make_room_;

  std::string inbox_;
  Event came_;     // something is in the inbox, or nothing more comes
  Event room_;     // in the inbox
  Event handled_;  // the handler has something to send
  Watch watch_;    // of a client that takes nothing
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<MessageConnection> socket_;
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  Clock::time_point waits_since_ = Clock::now();
  Clock::time_point writes_since_ = kNever;
  bool gone_ = false;
  bool over_ = false;
  bool last_ = false;  // no request follows
};

}  // namespace mynah::server
