#include "base/machine_sleep.h"

#include <ctime>

namespace mynah {

namespace {

double seconds_by(clockid_t clock) {
  constexpr double kNanosecond = 1e-9;
  timespec time{};
  return ::clock_gettime(clock, &time) == 0
             ? static_cast<double>(time.tv_sec) + kNanosecond * static_cast<double>(time.tv_nsec)
             : 0;
}

}  // namespace

double asleep_s() {
  const double awake_s = seconds_by(CLOCK_MONOTONIC);
  const double all_s = seconds_by(CLOCK_BOOTTIME);
  return all_s > awake_s ? all_s - awake_s : 0;
}

}  // namespace mynah
