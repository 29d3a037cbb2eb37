// CountedWork: what is done beside a conversation, so that it can be seen whether something is, and
// waited for.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "talk/loop/workers.h"

namespace mynah::talk {

// Thread-safe.
class CountedWork {
 public:
  // `done` is called behind each piece of work, on its thread.
  explicit CountedWork(
      Workers& workers, std::function<void(Organ)> done = [](Organ) {})
      : workers_(workers), done_(std::move(done)) {}

  void run(Organ organ, std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
    }
    workers_.run(organ, [this, organ, work = std::move(work)]() mutable {
      work();
      done_(organ);
      work = nullptr;  // what it holds goes before it counts as done
      const std::lock_guard lock(mutex_);
      --under_way_;
      ended_.notify_all();
    });
  }

  // Whether something is under way, or waits for its turn.
  [[nodiscard]] bool any() const {
    const std::lock_guard lock(mutex_);
    return under_way_ > 0;
  }

  void wait_for_all() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return under_way_ == 0; });
  }

 private:
  Workers& workers_;
  const std::function<void(Organ)> done_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  int under_way_ = 0;
};

}  // namespace mynah::talk
