// MessageSession: a client over a WebSocket, which sends and is sent messages of text.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/message.h"
#include "server/http/outbox.h"

namespace mynah::server {

class WorkThreads;

// Called from the network's thread; what takes long it has done by others. What it sends goes into
// its outbox as text_message() makes it, and close_message() at the end of that.
class MessageSession {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~MessageSession() = default;

  virtual void take(std::string text) = 0;

  // So many bytes came that were not dealt with yet: above a bound no more are read. As it shrinks
  // the outbox is told, by Outbox::write() with nothing to write.
  [[nodiscard]] virtual size_t backlog() const = 0;

  // When on_time() is to be called, though nothing comes; none: never. As it changes the outbox is
  // told, too.
  [[nodiscard]] virtual std::optional<Clock::time_point> due() const = 0;
  virtual void on_time() = 0;

  // The client is gone; the outbox was told, too.
  virtual void leave() = 0;
};

// Makes the session of a client whose request was upgraded.
using MessageSessionMaker = std::function<std::shared_ptr<MessageSession>(
    const RequestHead& head, const std::shared_ptr<Outbox>& outbox, WorkThreads& threads)>;

// A WebSocket, as a route has it.
struct SocketPlan {
  MessageSessionMaker make;  // null: the route is none
  std::string protocol;      // that is agreed to where a client offers it
};

}  // namespace mynah::server
