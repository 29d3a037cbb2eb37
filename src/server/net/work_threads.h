// WorkThreads: threads for requests that wait for models, as many as there are requests under way.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mynah::server {

// A thread that has nothing to do waits for the next request without waking up: they are kept to
// the end, as their number is bounded.
class WorkThreads {
 public:
  // `most`: so many at once, 1 at least.
  explicit WorkThreads(size_t most) : most_(most) {}

  // Waits for all that is under way.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  // Has a thread do it. False: all are busy, or the system gives no other.
  [[nodiscard]] bool run(std::function<void()> work);

  // How many are at work.
  [[nodiscard]] size_t busy() const;

 private:
  void serve(const std::stop_token& end);

  const size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;
  std::vector<std::jthread> threads_;  // the first to go
};

}  // namespace mynah::server
