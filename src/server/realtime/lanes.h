// Lanes: how many sessions of Realtime are dealt with at once, however many there are; the others
// wait in their order.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "server/net/work_threads.h"

namespace mynah::server {

// Thread-safe. What a session has to do is short, but there may be thousands of them that send a
// piece of sound in the same moment: other requests want threads, too.
class Lanes : public std::enable_shared_from_this<Lanes> {
 public:
  explicit Lanes(size_t most) : most_(most) {}

  // Has a thread do it, when its turn comes. False: no thread is free, and none of a lane's will
  // be.
  [[nodiscard]] bool run(std::function<void()> work, WorkThreads& threads);

 private:
  // Does what waits until nothing does.
  void serve();

  const size_t most_;
  std::mutex mutex_;
  size_t busy_ = 0;
  std::deque<std::function<void()>> waiting_;
};

}  // namespace mynah::server
