#include "talk/turns/sounded_end.h"

#include <utility>

namespace mynah::talk {

SoundedEnd::SoundedEnd(std::shared_ptr<const TurnScorer> scorer, const EndOfTurnRule& rule)
    : scorer_(std::move(scorer)), rule_(rule) {}

Result<float> SoundedEnd::score(std::span<const float> samples, const std::stop_token& stop) {
  if (stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "the turn goes on");
  }
  return scorer_->score(samples);
}

bool SoundedEnd::is_over(const TurnPause& pause) const {
  return rule_
      .end_at({.silence_s = pause.silence_s,
               .score = pause.score,
               .clause = pause.clause,
               .fall_db = pause.fall_db})
      .has_value();
}

}  // namespace mynah::talk
