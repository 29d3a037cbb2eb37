#include "place/proofs/distrust.h"

#include <algorithm>
#include <utility>

namespace mynah::place {
namespace {

constexpr int64_t kFirst_s = 10;
constexpr int64_t kLongest_s = 3600;
// A device may pass each proof and fail in each piece of work: that it was proven forgives nothing.
// One that fails more seldom than once in the longest pause costs a piece of work done again in
// that time, whatever the pause.
constexpr int64_t kForgiven_s = kLongest_s;
// More make a pause no longer.
constexpr int kMostFailures = 20;

}  // namespace

int64_t Distrust::again_at() const {
  const int doublings = std::clamp(failures, 1, kMostFailures) - 1;
  return last_at + std::min(kLongest_s, kFirst_s << doublings);
}

void Distrust::failed(int64_t now, std::string why) {
  const bool forgiven = trusted_at != 0 && now - trusted_at >= kForgiven_s;
  failures = forgiven ? 1 : std::clamp(failures, 0, kMostFailures) + 1;
  last_at = now;
  reason = std::move(why);
  trusted_at = 0;
}

void Distrust::trusted(int64_t now) {
  if (is_open()) {
    trusted_at = now;
  }
}

}  // namespace mynah::place
