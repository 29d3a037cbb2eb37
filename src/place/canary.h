// Canary: a probe that is run again while a device works, since a device that computes wrongly may
// not fail otherwise.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "place/reference.h"

namespace mynah::place {

class Canary {
 public:
  // `device` is named in errors.
  Canary(StageGroup group, std::string device, Reference reference);

  // `what` was computed and is about to be given out. Where the device was not found right yet, or
  // some seconds ago, it is probed now; else `what` is remembered until it is. Throws DeviceError
  // where the probe is wrong: `what` must not be given out then.
  void vouch(const std::string& what, const std::function<Result<Probe>()>& probe);

  // "; what it gave since it was right may be wrong too: clause 2 to clause 4", of what is
  // remembered; "": nothing is. To be said wherever the device fails: nothing vouches for it then.
  [[nodiscard]] std::string doubts();

  // Probes where something was given out since the last one. Throws DeviceError as vouch() does.
  void settle(const std::function<Result<Probe>()>& probe);

 private:
  void look(const std::function<Result<Probe>()>& probe);

  using Clock = std::chrono::steady_clock;

  StageGroup group_;
  std::string device_;
  Reference reference_;
  std::mutex mutex_;
  std::optional<Clock::time_point> right_at_;
  Clock::duration cost_{};    // of a probe
  std::string first_, last_;  // of what was given out since
};

}  // namespace mynah::place
