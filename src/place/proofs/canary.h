// Canary: a probe that is run again while a device works, since a device that computes wrongly may
// not fail otherwise.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "place/proofs/proof_store.h"
#include "place/proofs/reference.h"

namespace mynah::place {

// What a canary asks the machine for. A test makes up its own.
struct CanaryTimes {
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::function<WakeState()> wake = WakeState::now;
};

class Canary {
 public:
  // `device` is named in errors.
  Canary(StageGroup group, std::string device, Reference reference, CanaryTimes times = {});

  // `what` was computed and is about to be given out. Where the device was not found right yet, or
  // some seconds ago, or the machine slept since, it is probed now; else `what` is remembered until
  // it is. Throws DeviceError where the probe is wrong: `what` must not be given out then.
  void vouch(const std::string& what, const std::function<Result<Probe>()>& probe);

  // "; what it gave since it was right may be wrong too: clause 2 to clause 4", of what is
  // remembered; "": nothing is. To be said wherever the device fails: nothing vouches for it then.
  [[nodiscard]] std::string doubts();

  // The same by name, "clause 2 to clause 4"; "": nothing is.
  [[nodiscard]] std::string doubted();

  // Probes where something was given out since the last one. Throws DeviceError as vouch() does.
  void settle(const std::function<Result<Probe>()>& probe);

 private:
  // Whether it was found right a moment ago, before which the machine did not sleep.
  [[nodiscard]] bool is_fresh() const;
  void look(const std::function<Result<Probe>()>& probe);

  using Clock = std::chrono::steady_clock;

  StageGroup group_;
  std::string device_;
  Reference reference_;
  CanaryTimes times_;
  std::mutex mutex_;
  std::optional<Clock::time_point> right_at_;
  WakeState right_in_;        // when that probe began
  Clock::duration cost_{};    // of a probe
  std::string first_, last_;  // of what was given out since
};

}  // namespace mynah::place
