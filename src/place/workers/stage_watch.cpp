#include "place/workers/stage_watch.h"

#include <algorithm>

#include "tensor/device_error.h"

namespace mynah::place {
namespace {

// A call fails in the middle of its work: at this of its operations.
constexpr uint64_t kFaultyOperation = 5;

}  // namespace

void StageClock::enter(std::optional<Stage> stage, std::chrono::steady_clock::time_point now) {
  if (now_) {
    const double step_ms = std::chrono::duration<double, std::milli>(now - since_).count();
    const size_t i = number_of(*now_);
    spent_ms_[i] += step_ms;
    longest_ms_[i] = std::max(longest_ms_[i], step_ms);
  }
  now_ = stage;
  since_ = now;
}

void StageWatch::set_faults(const std::vector<Fault>& faults) {
  faults_.clear();
  for (const Fault& fault : faults) {
    if (fault.stage == stage_) {
      faults_.push_back(fault);
    }
  }
}

void StageWatch::begin_call() {
  ++calls_;
  for (const Fault& fault : faults_) {
    if (fault.call == calls_) {
      fault_.arm(fault.kind, kFaultyOperation);
    }
  }
}

void StageWatch::before(std::string_view operation) {
  if (signs_.stop.stop_requested()) {
    throw DeviceError({ErrorCode::Cancelled, "stopped"});
  }
  Pulse& pulse = signs_.pulse;
  if (pool_ != nullptr) {
    signs_.turn.step(*pool_, [&] {
      pulse.rests.store(1, std::memory_order_relaxed);
      signs_.clock.enter(std::nullopt);
    });
    pulse.rests.store(0, std::memory_order_relaxed);
  }
  pulse.stage.store(number_ + 1, std::memory_order_relaxed);
  pulse.steps.fetch_add(1, std::memory_order_relaxed);
  signs_.clock.step(stage_);
  fault_.before(operation);
}

void StageWatch::after(std::string_view operation, Backend& backend, const Tensor& out) {
  fault_.after(operation, backend, out);
}

}  // namespace mynah::place
