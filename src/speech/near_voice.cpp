#include "speech/near_voice.h"

#include <algorithm>

namespace mynah {

namespace {

// After so long without a frame that counts somebody has stopped.
constexpr double kStopped_ms = 300;

}  // namespace

bool NearVoice::push(const Frame& frame) {
  const bool loud = frame.level_db >= options_.quietest_db;
  bool counts = loud && frame.probability >= options_.threshold;
  double lasts_ms = options_.lasts_ms;
  if (frame.far_active && !frame.inaudible) {
    const bool more =
        frame.probability >= options_.threshold_beside && frame.excess_db >= options_.excess_db;
    const bool sure =
        frame.probability >= options_.sure_threshold && frame.excess_db >= options_.sure_excess_db;
    counts = loud && frame.settled && (more || sure);
    lasts_ms = options_.lasts_beside_ms;
  }
  if (counts) {
    counted_ms_ = std::min(counted_ms_ + frame.ms, 2 * lasts_ms);
    silent_ms_ = 0;
  } else {
    counted_ms_ = std::max(counted_ms_ - 2 * frame.ms, 0.0);
    silent_ms_ += frame.ms;
  }
  if (counted_ms_ >= lasts_ms) {
    speaking_ = true;
  } else if (silent_ms_ >= kStopped_ms) {
    speaking_ = false;
  }
  return speaking_;
}

void NearVoice::reset() {
  counted_ms_ = silent_ms_ = 0;
  speaking_ = false;
}

}  // namespace mynah
