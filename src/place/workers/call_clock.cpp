#include "place/workers/call_clock.h"

#include <chrono>
#include <optional>

namespace mynah::place {
namespace {

using Clock = std::chrono::steady_clock;

struct ThreadCalls {
  int depth = 0;
  CallClock* stage = nullptr;  // that computes
  Clock::time_point since;
  std::optional<Turns::Turn> turn;
};

thread_local ThreadCalls calls;

}  // namespace

void CallClock::before(std::string_view /*operation*/) {
  if (calls.depth == 0) {
    return;
  }
  if (!calls.turn && pool_ != nullptr) {
    calls.turn.emplace(pool_->turns(), pool_->size(), urgency());
  } else if (calls.turn && calls.turn->is_awaited()) {
    TimedCall::enter(nullptr);  // its stage does not compute while others do
    calls.turn->let_others_go_before();
  }
  if (calls.stage != this) {
    TimedCall::enter(this);
  }
}

TimedCall::TimedCall() {
  ++calls.depth;
}

TimedCall::~TimedCall() {
  if (--calls.depth == 0) {
    enter(nullptr);
    calls.turn.reset();
  }
}

void TimedCall::enter(CallClock* stage) {
  const auto now = Clock::now();
  if (calls.stage != nullptr) {
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(now - calls.since);
    calls.stage->spent_ns_.fetch_add(spent.count(), std::memory_order_relaxed);
  }
  calls.stage = stage;
  calls.since = now;
}

}  // namespace mynah::place
