#include "chat/step_cost.h"

#include <algorithm>

namespace mynah {
namespace {

constexpr double kOfLate = 0.03;
// What a second token adds to a step's time where nothing is known: two threads with AVX-512 and a
// model of 135M parameters measured as much; larger models on more threads add less.
constexpr double kFirstSlope = 0.25;
constexpr double kFirstSpread = 0.05;  // of tokens, that this guess counts as

}  // namespace

void StepCost::note(int64_t tokens, double ms) {
  const auto x = static_cast<double>(tokens);
  if (ms_ == 0) {
    tokens_ = x;
    ms_ = ms;
    return;
  }
  // A step that something else held up says nothing of steps.
  constexpr double kHeldUp = 3;
  const double y = std::min(ms, kHeldUp * of(x));
  // West 1979, "Updating mean and variance estimates", with weights that fall.
  const double dx = x - tokens_;
  const double dy = y - ms_;
  tokens_ += kOfLate * dx;
  ms_ += kOfLate * dy;
  spread_ = (1 - kOfLate) * (spread_ + kOfLate * dx * dx);
  together_ = (1 - kOfLate) * (together_ + kOfLate * dx * dy);
}

double StepCost::of(double tokens) const {
  const double first = kFirstSlope * ms_ / (1 + kFirstSlope * std::max(0.0, tokens_ - 1));
  const double slope = std::max(0.0, (together_ + kFirstSpread * first) / (spread_ + kFirstSpread));
  return std::max(ms_ + slope * (tokens - tokens_), ms_ / 4);
}

}  // namespace mynah
