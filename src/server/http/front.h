// Front: what a connection asks about the requests that come on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>

#include "server/http/exchange.h"
#include "server/http/message_session.h"

namespace mynah::server {

// How a request was dealt with.
struct Served {
  int status = 0;
  uint64_t bytes = 0;     // of the answer's body
  uint64_t received = 0;  // of the request's
  std::chrono::steady_clock::duration took{};
  bool left = false;  // the client did not wait for all of it
};

// What a client is told of an error, as the interface that the path belongs to tells it.
using ErrorTeller = std::function<Response(const RequestHead& head, const Error& error)>;

class Front {
 public:
  virtual ~Front() = default;

  // What is to be done with a request.
  struct Plan {
    Accepts accepts = Accepts::Nothing;
    Handler handler;
    SocketPlan socket{};  // what the connection becomes where the route is a WebSocket
  };

  // Asked before the body is read, from the network's thread: a refusal comes at once.
  [[nodiscard]] virtual std::expected<Plan, Response> plan(RequestHead& head) = 0;

  // What a client is told of an error, in the words of the interface that it asked. `head`: its
  // path is empty where the request could not be read so far.
  [[nodiscard]] virtual Response refusal(const RequestHead& head, const Error& error) const = 0;

  // Adds to an answer what all have, before it is sent. A request that could not be read has its
  // name from then on.
  virtual void dress(RequestHead& head, Response& response) = 0;

  // A request is over.
  virtual void on_served(const RequestHead& /*head*/, const Served& /*served*/) {}
};

}  // namespace mynah::server
