#include "audio/device/stream_clock.h"

#include <cmath>
#include <utility>
#include <vector>

namespace mynah {
namespace {

constexpr double kWindowS = 30;
constexpr double kBreakS = 0.03;
constexpr size_t kStraysAhead = 2;
constexpr size_t kStraysLate = 8;  // what a busy machine holds up, comes late as well
// Cards are some 100 parts in a million off, what is told of a stream some milliseconds: until what
// was seen knows better (the sum of squared times is beyond the squared quotient of both), the
// slope is held near none.
constexpr double kUsualSlope = 1e-4;
constexpr double kUsualJitterS = 5e-4;
// What is told is late where a thread of the server waited for the processor, never early: the
// truest stand highest.
constexpr double kAbove = 0.95;
constexpr int kRounds = 6;  // until the same stand above: it begins with the last line

}  // namespace

void StreamClock::observe(double time_s, double position) {
  const Seen now{.time_s = time_s, .ahead_s = position / rate_hz_ - time_s};
  const double off = known() ? now.ahead_s - ahead_at(time_s) : 0;
  if (std::abs(off) > kBreakS) {
    strays_.push_back(now);
    if (strays_.size() < (off > 0 ? kStraysAhead : kStraysLate)) {
      return;
    }
    std::deque<Seen> strays = std::move(strays_);
    broke();
    seen_ = std::move(strays);
  } else {
    seen_.push_back(now);
  }
  strays_.clear();
  while (seen_.front().time_s < time_s - kWindowS) {
    seen_.pop_front();
  }
  fit();
}

void StreamClock::broke() {
  seen_.clear();
  fitted_ = false;
  strays_.clear();
  usual_slope_ = slope_;
}

void StreamClock::restart() {
  broke();
  slope_ = 0;
  usual_slope_ = 0;
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

// Least squares about the middle, with a prior for the slope, where what stands above the line
// weighs more than what stands below: the line's expectile.
void StreamClock::fit() {
  for (int round = 0; round < kRounds; ++round) {
    const size_t count = seen_.size();
    const bool first = count == 1 || !fitted_;
    double weights = 0;
    double times = 0;
    double aheads = 0;
    std::vector<double> weight(count);
    for (size_t i = 0; i < count; ++i) {
      const bool above = first || seen_[i].ahead_s > ahead_at(seen_[i].time_s);
      weight[i] = above ? kAbove : 1 - kAbove;
      weights += weight[i];
      times += weight[i] * (seen_[i].time_s - seen_.front().time_s);
      aheads += weight[i] * seen_[i].ahead_s;
    }
    const double middle_s = seen_.front().time_s + times / weights;
    const double ahead_s = aheads / weights;
    // As many as there are weigh one each, whatever is above.
    const double one = static_cast<double>(count) / weights;
    double squares = (kUsualJitterS / kUsualSlope) * (kUsualJitterS / kUsualSlope);
    double products = 0;
    for (size_t i = 0; i < count; ++i) {
      const double time = seen_[i].time_s - middle_s;
      squares += one * weight[i] * time * time;
      products += one * weight[i] * time * (seen_[i].ahead_s - ahead_s - usual_slope_ * time);
    }
    middle_s_ = middle_s;
    ahead_s_ = ahead_s;
    slope_ = usual_slope_ + products / squares;
    fitted_ = true;
  }
}

}  // namespace mynah
