#include "base/turns.h"

#include <algorithm>
#include <utility>

namespace mynah {
namespace {

thread_local Urgency urgency_here = Urgency::Bulk;

}  // namespace

Urgency urgency() {
  return urgency_here;
}

UrgencyScope::UrgencyScope(Urgency wanted) : before_(std::exchange(urgency_here, wanted)) {}

UrgencyScope::~UrgencyScope() {
  urgency_here = before_;
}

Turns::Turn::Turn(Turns& turns, int share, Urgency urgency)
    : turns_(turns), share_(std::clamp(share, 1, turns.threads_)), urgency_(urgency) {
  std::unique_lock lock(turns_.mutex_);
  place_ = ++turns_.came_;
  turns_.wait_for(lock, *this);
}

Turns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  turns_.free_ += share_;
  turns_.call_next();
}

void Turns::Turn::let_others_go_before() {
  std::unique_lock lock(turns_.mutex_);
  if (turns_.line_.empty()) {
    return;
  }
  const Turn& next = *turns_.line_.front();
  const bool is_set_aside = next.urgency_ > urgency_;
  const bool is_over =
      next.urgency_ == urgency_ && std::chrono::steady_clock::now() - since_ >= kSlice;
  if (!is_set_aside && !is_over) {
    return;
  }
  if (is_over) {
    place_ = ++turns_.came_;  // behind its equals; who is set aside stays before them
  }
  turns_.free_ += share_;
  is_on_ = false;
  turns_.wait_for(lock, *this);
}

void Turns::wait_for(std::unique_lock<std::mutex>& lock, Turn& turn) {
  const auto goes_after = [&turn](const Turn* other) {
    return std::pair(other->urgency_, turn.place_) < std::pair(turn.urgency_, other->place_);
  };
  line_.insert(std::ranges::find_if(line_, goes_after), &turn);
  awaited_.fetch_add(1, std::memory_order_relaxed);
  urgent_.fetch_add(turn.urgency_ == Urgency::Interactive ? 1 : 0, std::memory_order_relaxed);
  call_next();
  turn.called_.wait(lock, [&turn] { return turn.is_on_; });
}

void Turns::call_next() {
  while (!line_.empty() && line_.front()->share_ <= free_) {
    Turn& next = *line_.front();
    line_.pop_front();
    awaited_.fetch_sub(1, std::memory_order_relaxed);
    urgent_.fetch_sub(next.urgency_ == Urgency::Interactive ? 1 : 0, std::memory_order_relaxed);
    free_ -= next.share_;
    next.is_on_ = true;
    next.since_ = std::chrono::steady_clock::now();
    next.called_.notify_one();
  }
}

}  // namespace mynah
