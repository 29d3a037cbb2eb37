#include "server/realtime/lanes.h"

#include <utility>

namespace mynah::server {

bool Lanes::run(std::function<void()> work, WorkThreads& threads) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  if (busy_ < most_ && threads.run([self = shared_from_this()] { self->serve(); })) {
    ++busy_;
  }
  if (busy_ > 0) {
    return true;
  }
  waiting_.pop_back();
  return false;
}

void Lanes::serve() {
  while (true) {
    std::function<void()> work;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        --busy_;
        return;
      }
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace mynah::server
