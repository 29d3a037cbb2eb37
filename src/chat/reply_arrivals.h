// ReplyArrivals: which of several replies that are written side by side have something to tell.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

namespace mynah {

// Thread-safe.
class ReplyArrivals {
 public:
  // There is something of that one.
  void tell(size_t number) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(numbers_, number) == numbers_.end()) {
      numbers_.push_back(number);
      changed_.notify_one();
    }
  }

  // Waits until there is something of one; who came first.
  size_t wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !numbers_.empty(); });
    const size_t number = numbers_.front();
    numbers_.pop_front();
    return number;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<size_t> numbers_;  // each once
};

}  // namespace mynah
