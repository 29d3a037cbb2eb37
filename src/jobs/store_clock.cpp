#include "jobs/store_clock.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace mynah::jobs {
namespace {

int64_t clock_ms(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

TimeSources TimeSources::of_system() {
  return {.of_day = [] { return clock_ms(CLOCK_REALTIME); },
          .since_up = [] { return clock_ms(CLOCK_BOOTTIME); }};
}

StoreClock::StoreClock(TimeSources sources, int64_t last_ms)
    : sources_(std::move(sources)),
      begin_ms_(std::max(last_ms, sources_.of_day())),
      begin_since_up_ms_(sources_.since_up()) {}

int64_t StoreClock::now_ms() const {
  return begin_ms_ + sources_.since_up() - begin_since_up_ms_;
}

}  // namespace mynah::jobs
