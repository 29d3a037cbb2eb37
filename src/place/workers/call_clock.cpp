#include "place/workers/call_clock.h"

#include <chrono>

#include "base/stop_scope.h"
#include "place/workers/call_turn.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

using Clock = std::chrono::steady_clock;

struct ThreadCalls {
  int depth = 0;
  CallClock* stage = nullptr;  // that computes
  Clock::time_point since;
  CallTurn turn;
};

thread_local ThreadCalls calls;

}  // namespace

void CallClock::before(std::string_view /*operation*/) {
  if (calls.depth == 0) {
    return;
  }
  if (stop_here().stop_requested()) {
    throw DeviceError({ErrorCode::Cancelled, "stopped"});
  }
  if (pool_ != nullptr) {
    // Its stage does not compute while others do.
    calls.turn.step(*pool_, [] { TimedCall::enter(nullptr); });
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
    calls.turn.end();
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
