#include "place/proofs/canary.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tensor/device_error.h"

namespace mynah::place {
namespace {

// A probe is run so often, but never takes more than a thirtieth of the time.
constexpr std::chrono::seconds kEvery{3};
constexpr int kShare = 30;

}  // namespace

Canary::Canary(StageGroup group, std::string device, Reference reference, CanaryTimes times)
    : group_(group),
      device_(std::move(device)),
      reference_(std::move(reference)),
      times_(std::move(times)) {}

bool Canary::is_fresh() const {
  // The steady clock stands still while the machine sleeps.
  return right_at_ &&
         times_.now() - *right_at_ < std::max<Clock::duration>(kEvery, cost_ * kShare) &&
         times_.wake().awake_since(right_in_);
}

void Canary::vouch(const std::string& what, const std::function<Result<Probe>()>& probe) {
  const std::lock_guard lock(mutex_);
  if (is_fresh()) {
    if (first_.empty()) {
      first_ = what;
    }
    last_ = what;
    return;
  }
  look(probe);
}

void Canary::settle(const std::function<Result<Probe>()>& probe) {
  const std::lock_guard lock(mutex_);
  if (!first_.empty()) {
    look(probe);
  }
}

std::string Canary::doubts() {
  const std::string pieces = doubted();
  return pieces.empty()
             ? std::string()
             : fmt::format("; what it gave since it was right may be wrong too: {}", pieces);
}

std::string Canary::doubted() {
  const std::lock_guard lock(mutex_);
  return first_ == last_ ? first_ : fmt::format("{} to {}", first_, last_);
}

void Canary::look(const std::function<Result<Probe>()>& probe) {
  const auto begin = times_.now();
  WakeState wake = times_.wake();
  const Result<Probe> found = probe();
  if (!found) {
    throw DeviceError({ErrorCode::Device, found.error().message});
  }
  for (const Stage stage : stages_of(group_)) {
    const ProbeVerdict verdict = judge(stage, *found, reference_);
    if (verdict.failure.empty()) {
      continue;
    }
    const std::string message =
        fmt::format("{} computes wrongly: {} {}", device_, stage_name(stage), verdict.failure);
    throw DeviceError({ErrorCode::Device, message});
  }
  right_at_ = times_.now();
  right_in_ = std::move(wake);
  cost_ = *right_at_ - begin;
  first_.clear();
  last_.clear();
}

}  // namespace mynah::place
