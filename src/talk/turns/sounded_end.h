// SoundedEnd: a turn is over when it sounds so and its words allow it, or after a long silence.
#pragma once

#include <memory>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "speech/end_of_turn_rule.h"
#include "speech/turn_scorer.h"
#include "talk/turns/end_rule.h"

namespace mynah::talk {

class SoundedEnd final : public EndRule {
 public:
  SoundedEnd(std::shared_ptr<const TurnScorer> scorer, const EndOfTurnRule& rule);

  [[nodiscard]] bool scores() const override { return true; }

  [[nodiscard]] Result<float> score(std::span<const float> samples,
                                    const std::stop_token& stop) override;

  [[nodiscard]] double longest_faint_s() const override { return rule_.longest_faint_s; }

  [[nodiscard]] bool is_over(const TurnPause& pause) const override;

 private:
  std::shared_ptr<const TurnScorer> scorer_;
  EndOfTurnRule rule_;
};

}  // namespace mynah::talk
