#include "server/net/work_threads.h"

#include <stop_token>
#include <system_error>
#include <utility>

namespace mynah::server {

WorkThreads::~WorkThreads() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  threads_.clear();
}

bool WorkThreads::run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= idle_) {
    if (threads_.size() >= most_) {
      return false;
    }
    try {
      threads_.emplace_back([this](const std::stop_token& end) { serve(end); });
    } catch (const std::system_error&) {
      return false;
    }
    ++idle_;
  }
  waiting_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

size_t WorkThreads::busy() const {
  const std::lock_guard lock(mutex_);
  return threads_.size() - idle_ + waiting_.size();
}

void WorkThreads::serve(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, end, [this] { return !waiting_.empty(); })) {
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    --idle_;
    lock.unlock();
    work();
    lock.lock();
    ++idle_;
  }
}

}  // namespace mynah::server
