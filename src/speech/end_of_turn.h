// EndOfTurn: listens to a recording beside a TurnDetector and says when the turn under way is at
// its end. Within a pause the turn's sound is scored every tenth of a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "speech/end_of_turn_rule.h"
#include "speech/turn_level.h"
#include "speech/turn_scorer.h"
#include "speech/voice_event.h"

namespace mynah {

// One recording at 16 kHz; one thread at a time.
class EndOfTurn {
 public:
  // What ended a turn, and where.
  struct End {
    TurnEnd why = TurnEnd::Said;
    int64_t at = 0;              // sample: where the voice ended, or became faint
    std::optional<float> score;  // of the pause, the lowest
  };

  // `scorer` may be null: then silence alone ends turns.
  EndOfTurn(std::shared_ptr<const TurnScorer> scorer, const EndOfTurnRule& rule);

  // The samples that come next, and what the detector found of the voice up to their last
  // (VoiceEvent::at counts from the first sample that was pushed). The end of the turn that goes
  // on; none: it goes on, or nobody speaks. After an end the next turn begins with a voice, or
  // where the speaker is loud again over one that never paused. Errors: those of the scorer; the
  // samples count all the same.
  Result<std::optional<End>> push(std::span<const float> samples,
                                  std::span<const VoiceEvent> events);

  // What the turn's transcript is so far, which may change yet; `language`: its tag, "" unknown.
  void hear(std::string_view text, std::string_view language);

  // The turn that goes on is over by somebody else's word.
  void end();

  // Whether somebody has the turn.
  [[nodiscard]] bool is_open() const { return begin_.has_value(); }

  // Of the turn that goes on: the lowest score of the pause under way.
  [[nodiscard]] std::optional<float> score() const { return score_; }

 private:
  void take(const VoiceEvent& event);
  // The speaker of the last turn goes on, whom the detector tells nobody of: it never heard a
  // pause.
  void take_up();
  [[nodiscard]] TurnMoment moment() const;
  [[nodiscard]] double seconds_since(int64_t sample) const;
  // The samples of the turn that are kept.
  [[nodiscard]] std::span<const float> turn() const;
  [[nodiscard]] Status look();
  void keep(std::span<const float> samples);

  std::shared_ptr<const TurnScorer> scorer_;
  EndOfTurnRule rule_;
  TurnLevel level_;
  std::vector<float> sound_;       // the last that came, at least as many as the scorer looks at
  int64_t heard_ = 0;              // samples that came
  std::optional<int64_t> begin_;   // of the turn
  bool behind_voice_ = false;      // a turn ended while somebody fainter spoke, who still does
  std::optional<int64_t> silent_;  // since when nothing is said in it
  int64_t next_look_ = 0;          // sample at which the turn is scored again
  std::optional<float> score_;
  std::string text_;
  std::optional<int64_t> worded_;  // sample at which the transcript got a word
  ClauseState clause_ = ClauseState::Unknown;
};

}  // namespace mynah
