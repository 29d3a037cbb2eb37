// Exchange: one request under way, as its handler sees it on a thread of its own.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "server/http/body.h"
#include "server/http/json_text.h"
#include "server/http/message.h"
#include "server/http/outbox.h"

namespace mynah::server {

// Thread-safe between the handler, which answers once, and the connection, which sends.
class Exchange {
 public:
  // `wake`: called from any thread when there is something to send.
  Exchange(RequestHead head, Body body, std::function<void()> wake);

  [[nodiscard]] const RequestHead& head() const { return head_; }

  [[nodiscard]] const Body& body() const { return body_; }

  // The body's text, read as JSON by whoever asks first: on the thread of its handler alone.
  [[nodiscard]] const SentJson& json() const;

  // Requested when the client leaves, or the server ends.
  [[nodiscard]] std::stop_token stop() const { return outbox_.stop(); }

  // The answer as a whole.
  void answer(Response response);

  // The answer's head; its body is written piece by piece, as Outbox takes it.
  void begin(Response response);

  // What a client is sent while nothing else is, so that nobody between gives it up: the head ahead
  // of its answer, and what `bytes` gives now and then, which is asked from the network's thread;
  // `between`: also between what is written. An answer that is an error then breaks it off, so that
  // nobody takes it for another.
  void fill_with(Response head, std::function<std::string()> bytes, bool between);

  Status write(std::string_view bytes) { return outbox_.write(bytes); }

  void end() { outbox_.end(); }

  void break_off() { outbox_.break_off(); }

  [[nodiscard]] bool has_begun() const;

  // Nothing more can be written.
  [[nodiscard]] bool is_over() const { return outbox_.is_over(); }

  // The connection's side.

  // What is to be sent next.
  struct Outgoing {
    std::optional<Response> head;  // once
    bool whole = false;            // the head has all of the body
    Outbox::Taken body;
  };

  [[nodiscard]] Outgoing take_outgoing();

  // Whether fill() has something to send, now or later.
  [[nodiscard]] bool has_filler() const;
  // Nothing was sent for a while.
  void fill();

  // The client is gone.
  void leave() { outbox_.leave(); }

 private:
  RequestHead head_;
  Body body_;
  mutable std::optional<SentJson> json_;
  Outbox outbox_;

  mutable std::mutex mutex_;
  std::optional<Response> answer_;
  bool whole_ = false;
  bool begun_ = false;

  struct Filler {
    Response head;
    std::function<std::string()> bytes;
    bool between = false;
    bool sent = false;
  };

  std::optional<Filler> filler_;
};

// Answers a request. What it has not answered when it returns is answered for it, as an error of
// the server's.
using Handler = std::function<void(Exchange& exchange)>;

}  // namespace mynah::server
