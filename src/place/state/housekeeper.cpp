#include "place/state/housekeeper.h"

#include <system_error>
#include <utility>

namespace mynah::place {

void Housekeeper::start(Tend tend) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || thread_.joinable()) {
    return;
  }
  try {
    thread_ = std::jthread([this, tend = std::move(tend)](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const std::chrono::milliseconds pause = tend();
        std::unique_lock waiting(mutex_);
        wake_.wait_for(waiting, stop, pause, [this] { return woken_; });
        woken_ = false;
      }
    });
  } catch (const std::system_error&) {
    stopped_ = true;  // nor is it tried again, each second
  }
}

void Housekeeper::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

void Housekeeper::stop() {
  std::jthread ended;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    ended = std::move(thread_);
  }
  ended.request_stop();
}

}  // namespace mynah::place
