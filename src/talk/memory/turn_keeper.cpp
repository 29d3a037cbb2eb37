#include "talk/memory/turn_keeper.h"

#include <utility>

namespace mynah::talk {

TurnKeeper::TurnKeeper(std::shared_ptr<ConversationMemory> memory,
                       std::function<void(const std::string& error)> fail)
    : memory_(std::move(memory)), fail_(std::move(fail)), thread_([this] { run(); }) {}

TurnKeeper::~TurnKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    vectors_.request_stop();
  }
  changed_.notify_one();
  thread_.join();
}

void TurnKeeper::keep(MemoryTurn turn) {
  {
    const std::lock_guard lock(mutex_);
    turns_.push_back(std::move(turn));
    vectors_.request_stop();
  }
  changed_.notify_one();
}

void TurnKeeper::set_idle(bool idle) {
  {
    const std::lock_guard lock(mutex_);
    idle_ = idle;
    if (!idle) {
      vectors_.request_stop();
    }
  }
  changed_.notify_one();
}

void TurnKeeper::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !turns_.empty() || (idle_ && has_new_); });
    Status done;
    if (!turns_.empty()) {
      MemoryTurn turn = std::move(turns_.front());
      turns_.pop_front();
      has_new_ = true;
      lock.unlock();
      done = memory_->keep(std::move(turn));
    } else if (ends_) {
      return;
    } else {
      vectors_ = {};
      has_new_ = false;
      const std::stop_token stop = vectors_.get_token();
      lock.unlock();
      done = memory_->make_vectors(stop);
      lock.lock();
      has_new_ = has_new_ || stop.stop_requested();
      lock.unlock();
    }
    if (!done) {
      fail_(done.error().message);
    }
    lock.lock();
  }
}

}  // namespace mynah::talk
