#include "cli/files/pace.h"

namespace mynah::cli {

std::optional<Pace> PaceWatch::look(double now_s, double arrived_s, bool ended) {
  constexpr double kRecordedRate = 10;
  constexpr int kSlowLooks = 2;
  if (ended || arrived_s >= kSurelyRecorded_s) {
    return Pace::Recorded;
  }
  const double passed_s = now_s - last_look_s_;
  if (passed_s < kLook_s) {
    return std::nullopt;
  }
  const bool slow = arrived_s - last_arrived_s_ < kRecordedRate * kLook_s;
  slow_looks_ = slow ? slow_looks_ + 1 : 0;
  last_look_s_ = now_s;
  last_arrived_s_ = arrived_s;
  return slow_looks_ == kSlowLooks ? std::optional(Pace::Live) : std::nullopt;
}

}  // namespace mynah::cli
