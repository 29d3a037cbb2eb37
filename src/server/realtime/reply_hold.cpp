#include "server/realtime/reply_hold.h"

namespace mynah::server {

bool ReplyHold::release() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::GivenUp) {
    return false;
  }
  state_ = State::Wanted;
  decided_.notify_all();
  return true;
}

bool ReplyHold::give_up() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::Wanted) {
    return false;
  }
  state_ = State::GivenUp;
  return true;
}

bool ReplyHold::is_held() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::Held;
}

bool ReplyHold::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return decided_.wait(lock, stop, [this] { return state_ != State::Held; }) &&
         state_ == State::Wanted;
}

}  // namespace mynah::server
