#include "audio/device/stream_clock.h"

#include <cmath>

namespace mynah {
namespace {

constexpr double kWindowS = 30;
constexpr double kBreakS = 0.03;
// Cards are some 100 parts in a million off, what is told of a stream some milliseconds: until what
// was seen knows better (the sum of squared times is beyond the squared quotient of both), the
// slope is held near none.
constexpr double kUsualSlope = 1e-4;
constexpr double kUsualJitterS = 1e-3;

}  // namespace

void StreamClock::observe(double time_s, double position) {
  const Seen now{.time_s = time_s, .ahead_s = position / rate_hz_ - time_s};
  const bool off = known() && std::abs(now.ahead_s - ahead_at(time_s)) > kBreakS;
  if (off && off_the_line_) {
    const Seen before = seen_.back();
    restart();
    seen_.push_back(before);
  }
  off_the_line_ = off && seen_.size() > 1;
  seen_.push_back(now);
  while (seen_.front().time_s < time_s - kWindowS) {
    seen_.pop_front();
  }
  fit();
}

void StreamClock::restart() {
  seen_.clear();
  off_the_line_ = false;
  slope_ = 0;
}

double StreamClock::ahead_at(double time_s) const {
  return ahead_s_ + slope_ * (time_s - middle_s_);
}

double StreamClock::position_at(double time_s) const {
  return (time_s + ahead_at(time_s)) * rate_hz_;
}

double StreamClock::time_of(double position) const {
  // position / rate = t + ahead + slope * (t - middle), for t.
  return (position / rate_hz_ - ahead_s_ + slope_ * middle_s_) / (1 + slope_);
}

// Least squares about the middle, with a prior for the slope.
void StreamClock::fit() {
  const size_t count = seen_.size() - (off_the_line_ ? 1 : 0);
  double times = 0;
  double aheads = 0;
  for (size_t i = 0; i < count; ++i) {
    times += seen_[i].time_s - seen_.front().time_s;
    aheads += seen_[i].ahead_s;
  }
  middle_s_ = seen_.front().time_s + times / count;
  ahead_s_ = aheads / count;
  double squares = (kUsualJitterS / kUsualSlope) * (kUsualJitterS / kUsualSlope);
  double products = 0;
  for (size_t i = 0; i < count; ++i) {
    const double time = seen_[i].time_s - middle_s_;
    squares += time * time;
    products += time * (seen_[i].ahead_s - ahead_s_);
  }
  slope_ = products / squares;
}

}  // namespace mynah
