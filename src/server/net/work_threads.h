// WorkThreads: threads for requests that wait for models, as many as there are requests under way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace mynah::server {

struct RequestHead;

// Whose share of the threads a request has: its key's, or its address's where no key is wanted.
[[nodiscard]] std::string share_of(const RequestHead& head);

// A thread that has nothing to do for a while ends, and the last of them gives back to the system
// what the process keeps of memory that nobody uses: a server at rest is as small after a crowd as
// before it. A crowd leaves room for others: nobody has more than three times as many threads as
// are free, so that who has none finds one (Choudhury and Hahne 1998, "Dynamic Queue Length
// Thresholds for Shared-Memory Packet Switches").
class WorkThreads {
 public:
  // `most`: so many at once, 1 at least. `idle`: how long a thread waits for something to do.
  explicit WorkThreads(size_t most, std::chrono::milliseconds idle = std::chrono::seconds(10))
      : most_(most), longest_idle_(idle) {}

  // Waits for all that is under way.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  // Has a thread do it, of that share; "": of nobody's. False: all are busy, or as many as the
  // share has, or the system gives no other.
  [[nodiscard]] bool run(std::function<void()> work, const std::string& share = {});

  // How many are at work.
  [[nodiscard]] size_t busy() const;

  // How many there are, at work or not.
  [[nodiscard]] size_t count() const;

 private:
  struct Work {
    std::function<void()> what;
    std::string share;
  };

  // Both want the lock.
  [[nodiscard]] size_t at_work() const { return threads_.size() - idle_ + waiting_.size(); }

  [[nodiscard]] bool has_its_share(const std::string& share) const;
  void serve(const std::stop_token& end);
  void retire(std::unique_lock<std::mutex> lock);

  const size_t most_;
  const std::chrono::milliseconds longest_idle_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Work> waiting_;
  std::map<std::string, size_t> held_;  // by share, of those that have any
  size_t idle_ = 0;
  std::jthread retired_;  // the last that did; it waits for the one before
  std::list<std::jthread> threads_;
};

}  // namespace mynah::server
