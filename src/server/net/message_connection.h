// MessageConnection: a connection after its upgrade to a WebSocket. Of the network's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/message_session.h"
#include "server/http/websocket.h"
#include "server/net/stream.h"

namespace mynah::server {

// What a connection of HTTP hands on to the WebSocket that it becomes.
struct Wire {
  boost::asio::any_io_executor executor;
  std::string& inbox;
  Event& came;       // something to the inbox, or nothing more comes
  Event& room;       // in the inbox
  const bool& gone;  // nothing more comes
  // False: the client takes nothing, or is gone.
  std::function<boost::asio::awaitable<bool>(std::string_view bytes)> write;
};

class MessageConnection : public std::enable_shared_from_this<MessageConnection> {
 public:
  // The wire must outlive run(), the threads everything.
  MessageConnection(Wire wire, const RequestHead& head, const MessageSessionMaker& make,
                    WorkThreads& threads);

  // Carries messages until one side closes.
  boost::asio::awaitable<void> run();

  // The client is gone.
  void leave();

  // What was heard and spoken for the client.

  // The server ends: the client may come again.
  void bid_farewell();

 private:
  using Clock = std::chrono::steady_clock;

  // Deals with what is in the inbox, as long as there may be more.
  boost::asio::awaitable<void> read();
  boost::asio::awaitable<void> send();
  // False: all that is to be read was.
  bool take_inbox();
  void begin_to_close(CloseCode code, std::string_view reason);
  // A ping where one is due. False: the client answers none.
  [[nodiscard]] bool watch(Clock::time_point now);
  // Until the client has closed, too, for a while.
  boost::asio::awaitable<void> wait_for_close();

  Wire wire_;
  Event changed_;                                           // there is something to send
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // as long as it is
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<MessageSession> session_;
  MessageReader reader_;
  std::optional<std::string> pong_;      // to the last ping
  std::optional<std::string> farewell_;  // what closes, unless the session's own was sent
  Clock::time_point last_came_ = Clock::now();
  Clock::time_point next_ping_;
  bool reading_ = true;
  bool closed_ = false;  // the client did
};

}  // namespace mynah::server
