// An answer in frames (place/elsewhere/frames.h), which shows that it is at it as long as it is.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "place/wire/wire.h"
#include "server/http/exchange.h"
#include "server/http/route.h"

namespace mynah::server {

// Adds the header that tells which protocol is spoken.
void name_protocol(Response& response);

// Conflict where the question is of another protocol, which is answered.
[[nodiscard]] bool speaks_protocol(Exchange& exchange);

// Answers one question. `work` computes on a thread of its own and gives what comes of it to
// send(), from any thread; its error is the answer's last frame. Signs of life pass meanwhile.
class AnswerFrames {
 public:
  explicit AnswerFrames(Exchange& exchange) : exchange_(exchange) {}

  using Work = std::function<Status(const std::stop_token& stop)>;

  // Returns when all was written, or the other left and the work has ended.
  void answer(const Work& work);

  template <class T>
  void send(const T& value) {
    place::WireWriter out;
    out(value);
    send_bytes(out);
  }

 private:
  void send_bytes(const place::WireWriter& out);
  // Writes what there is until the work is done.
  void write_on();

  Exchange& exchange_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> frames_;
  bool done_ = false;
};

}  // namespace mynah::server
