// Outbox: bytes that a thread writes and the network sends, a little ahead of what the client
// takes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::server {

// Thread-safe.
class Outbox {
 public:
  // `wake`: called from any thread when there is something to send.
  explicit Outbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Requested when the client leaves, or the server ends.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  // Waits until most of what was written before was taken. Cancelled where the client left.
  Status write(std::string_view bytes);
  // The same without waiting, as the network's thread may; nothing behind end().
  void add(std::string_view bytes);
  // All was written, and `last`, which waits for nobody: the network's thread may say it, too.
  void end(std::string_view last = {});
  // It cannot be written to its end: the connection is closed in the middle of it, so that nobody
  // takes it for whole.
  void break_off();

  [[nodiscard]] bool is_over() const;

  // The network's side.

  struct Taken {
    std::string bytes;
    bool over = false;
    bool broken_off = false;
  };

  [[nodiscard]] Taken take();

  // The client is gone.
  void leave() { stop_.request_stop(); }

 private:
  std::function<void()> wake_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any taken_;
  Taken kept_;
};

}  // namespace mynah::server
