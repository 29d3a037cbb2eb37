#include "speech/end_of_turn.h"

#include <algorithm>
#include <utility>

#include "speech/hearing.h"

namespace mynah {
namespace {

constexpr int64_t kLookEvery = kHearingRate_hz / 10;
// Silence from which on a turn is scored, whenever its scores count from.
constexpr double kFirstScore_s = 0.1;
// Sound before the detector heard the voice that the scorer hears with it: pipecat's pre_speech_ms.
constexpr int64_t kBefore = kHearingRate_hz / 2;
// Where there is no scorer nothing is kept but what a voice began with.
constexpr int64_t kKeptWithout = kBefore;

int64_t kept_samples(const TurnScorer* scorer) {
  return scorer == nullptr ? kKeptWithout : scorer->window();
}

}  // namespace

EndOfTurn::EndOfTurn(std::shared_ptr<const TurnScorer> scorer, const EndOfTurnRule& rule)
    : scorer_(std::move(scorer)), rule_(rule) {}

double EndOfTurn::seconds_since(int64_t sample) const {
  return static_cast<double>(heard_ - sample) / kHearingRate_hz;
}

void EndOfTurn::keep(std::span<const float> samples) {
  // Moved once for every window that came.
  const auto most = static_cast<size_t>(kept_samples(scorer_.get()));
  sound_.insert(sound_.end(), samples.begin(), samples.end());
  if (sound_.size() > 2 * most) {
    sound_.erase(sound_.begin(), sound_.end() - static_cast<int64_t>(most));
  }
  heard_ += std::ssize(samples);
}

std::span<const float> EndOfTurn::turn() const {
  const int64_t first = heard_ - std::ssize(sound_);
  const int64_t begin = std::max(first, *begin_ - kBefore);
  const std::span<const float> all(sound_);
  const auto own = all.subspan(static_cast<size_t>(begin - first));
  return own.last(std::min(own.size(), static_cast<size_t>(kept_samples(scorer_.get()))));
}

void EndOfTurn::take(const VoiceEvent& event) {
  switch (event.kind) {
    case VoiceEvent::Kind::Began:
    case VoiceEvent::Kind::WentOn:
      behind_voice_ = false;
      if (!begin_) {
        begin_ = event.at;
        level_.begin();
      }
      silent_.reset();
      score_.reset();
      break;
    case VoiceEvent::Kind::Paused:
    case VoiceEvent::Kind::Ended:
      behind_voice_ = false;
      if (begin_ && !silent_) {
        silent_ = event.at;
        next_look_ = 0;
      }
      break;
  }
}

void EndOfTurn::take_up() {
  if (behind_voice_ && level_.faint_s() == 0) {
    behind_voice_ = false;
    begin_ = heard_;
  }
}

Status EndOfTurn::look() {
  if (scorer_ == nullptr || !silent_ || heard_ < next_look_ ||
      seconds_since(*silent_) < kFirstScore_s) {
    return {};
  }
  next_look_ = heard_ + kLookEvery;
  // What sounded as if it went on a moment ago did so whatever silence follows: the longer that is,
  // the likelier an end the model takes it for.
  MYNAH_TRY(const float score, scorer_->score(turn()));
  score_ = std::min(score, score_.value_or(score));
  return {};
}

TurnMoment EndOfTurn::moment() const {
  return {.length_s = seconds_since(*begin_),
          .silence_s = silent_ ? seconds_since(*silent_) : 0,
          .faint_s = level_.faint_s(),
          .wordless_s = worded_ && !silent_ ? seconds_since(*worded_) : 0,
          .score = score_,
          .clause = clause_,
          .fall_db = silent_ ? level_.fall_db() : std::nullopt};
}

Result<std::optional<EndOfTurn::End>> EndOfTurn::push(std::span<const float> samples,
                                                      std::span<const VoiceEvent> events) {
  for (const VoiceEvent& event : events) {
    take(event);
  }
  level_.push(samples, begin_ && !silent_);
  keep(samples);
  take_up();
  if (!begin_) {
    return std::optional<End>();
  }
  MYNAH_TRY_STATUS(look());
  const TurnMoment now = moment();
  const auto why = rule_.end_at(now);
  if (!why) {
    return std::optional<End>();
  }
  const auto faint = static_cast<int64_t>(now.faint_s * kHearingRate_hz);
  const End ended{.why = *why,
                  .at = silent_.value_or(*why == TurnEnd::AnotherVoice ? heard_ - faint : heard_),
                  .score = score_};
  end();
  behind_voice_ = *why == TurnEnd::AnotherVoice;
  return std::optional(ended);
}

void EndOfTurn::hear(std::string_view text, std::string_view language) {
  clause_ = clause_state(text, language);
  if (text != text_) {
    text_ = text;
    worded_ = heard_;
  }
}

void EndOfTurn::end() {
  begin_.reset();
  behind_voice_ = false;
  silent_.reset();
  score_.reset();
  text_.clear();
  worded_.reset();
  clause_ = ClauseState::Unknown;
}

}  // namespace mynah
