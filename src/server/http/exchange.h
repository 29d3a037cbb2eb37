// Exchange: one request under way, as its handler sees it on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/http/body.h"
#include "server/http/message.h"

namespace mynah::server {

// Thread-safe between the handler, which answers once, and the connection, which sends. What is
// written waits until the client has taken most of what was written before.
class Exchange {
 public:
  // `wake`: called from any thread when there is something to send.
  Exchange(RequestHead head, Body body, std::function<void()> wake);

  [[nodiscard]] const RequestHead& head() const { return head_; }

  [[nodiscard]] const Body& body() const { return body_; }

  // Requested when the client leaves, or the server ends.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  // The answer as a whole.
  void answer(Response response);

  // The answer's head; its body is written piece by piece. `body` of it is the first piece.
  void begin(Response response);
  // Cancelled where the client left.
  Status write(std::string_view bytes);
  // The answer was written whole.
  void end();
  // It cannot be written to its end: the connection is closed in the middle of it, so that nobody
  // takes it for whole.
  void break_off();

  [[nodiscard]] bool has_begun() const;

  // The connection's side.

  // What is to be sent next.
  struct Outgoing {
    std::optional<Response> head;  // once
    bool whole = false;            // the head has all of the body
    std::string bytes;
    bool over = false;
    bool broken_off = false;
  };

  [[nodiscard]] Outgoing take_outgoing();

  // The client is gone.
  void leave();

 private:
  RequestHead head_;
  Body body_;
  std::function<void()> wake_;
  std::stop_source stop_;

  mutable std::mutex mutex_;
  std::condition_variable_any taken_;
  Outgoing outgoing_;
  bool begun_ = false;
};

// Answers a request. What it has not answered when it returns is answered for it, as an error of
// the server's.
using Handler = std::function<void(Exchange& exchange)>;

}  // namespace mynah::server
