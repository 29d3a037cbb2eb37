// EndRule: whether somebody who pauses has said what he wants to say.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "speech/end_of_turn_rule.h"

namespace mynah::talk {

// What is known of somebody who is silent behind his words.
struct TurnPause {
  double silence_s = 0;  // since his voice ended
  double spoken_s = 0;   // that he spoke before, pauses left out
  // The lowest EndRule::score() of this pause: what sounded as if it went on a moment ago did so
  // whatever silence follows. None: there is none yet.
  std::optional<float> score;
  // What was heard of all that he said, as a clause; unknown: it is not heard yet.
  ClauseState clause = ClauseState::Unknown;
  // How far his voice had fallen (TurnLevel::fall_db()); none: too little was said.
  std::optional<double> fall_db = {};
};

class EndRule {
 public:
  virtual ~EndRule() = default;

  // Whether score() says anything: it is then asked every 100 ms of a pause.
  [[nodiscard]] virtual bool scores() const { return false; }

  // How likely the turn is over by how it sounds. `samples`: 16 kHz mono, from its beginning until
  // now, half a minute at most. Asked on a thread of its own, one call at a time. Errors: the
  // device's; Cancelled once stop is requested.
  [[nodiscard]] virtual Result<float> score(std::span<const float> samples,
                                            const std::stop_token& stop) {
    static_cast<void>(samples);
    static_cast<void>(stop);
    return 0.0F;
  }

  // For so long a voice is fainter than the turn's speaker before it is another's, a television's,
  // and the turn is over.
  [[nodiscard]] virtual double longest_faint_s() const { return EndOfTurnRule{}.longest_faint_s; }

  // Whether the turn is over. Asked with every piece of sound: it takes no time.
  [[nodiscard]] virtual bool is_over(const TurnPause& pause) const = 0;
};

// By silence alone.
class SilenceRule final : public EndRule {
 public:
  explicit SilenceRule(double silence_s) : silence_s_(silence_s) {}

  // Whoever wants long pauses does not want to be cut off where his voice falls.
  [[nodiscard]] double longest_faint_s() const override {
    return std::max(silence_s_, EndRule::longest_faint_s());
  }

  [[nodiscard]] bool is_over(const TurnPause& pause) const override {
    return pause.silence_s >= silence_s_;
  }

 private:
  double silence_s_;
};

}  // namespace mynah::talk
