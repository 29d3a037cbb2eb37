#include "talk/turns/voice_watch.h"

#include <algorithm>
#include <utility>

#include "base/turns.h"
#include "speech/hearing.h"

namespace mynah::talk {

namespace {

// Kept before the first frame with a voice: detectors notice soft sounds late, and Whisper hears a
// word better that does not begin with the window.
constexpr double kPreRoll_s = 0.35;
// A turn that is heard again from its beginning is no longer than what a model hears at once.
constexpr double kMostKept_s = 29;
// What is shorter is a knock.
constexpr int kLeastVoice_ms = 60;
// A voice behind whoever had the turn that pauses for longer is gone: sentences of a television
// have shorter pauses.
constexpr double kGone_s = 5;
// Whoever is as loud as who had the turn was so for about that long (TurnLevel: four frames).
constexpr int64_t kLoudFrames = 4;
// Whoever converses says when a turn is over, before this does.
constexpr double kNever_s = 3600;

}  // namespace

VoiceWatch::VoiceWatch(std::shared_ptr<const VoiceDetector> voice)
    : voice_(std::move(voice)),
      turns_(*voice_, VadOptions{.min_speech_ms = kLeastVoice_ms},
             ChunkOptions{.max_s = kNever_s, .max_gap_s = kNever_s}) {}

int64_t VoiceWatch::begin() const {
  const int64_t first = std::max(turn_->began - samples_of(kPreRoll_s), int64_t{0});
  return std::max(unheard_ ? std::min(*unheard_, first) : first, now() - samples_of(kMostKept_s));
}

bool VoiceWatch::may_be_knock() const {
  return voiced() <= samples_of(kLeastVoice_ms / 1000.0);
}

Status VoiceWatch::push(std::span<const float> samples) {
  const UrgencyScope now_urgent(Urgency::Interactive);
  samples_.append(samples);
  auto found = turns_.push(samples, {});
  if (found && deaf_) {
    found = listen_anew();
  }
  deaf_ = !found;
  if (found) {
    std::ranges::for_each(found->events, [this](const VoiceEvent& event) { take(event); });
  }
  level_.push(samples, is_voice());
  watch_behind();
  const int64_t kept = turn_ ? begin() : unheard_.value_or(now());
  samples_.discard_before(std::max(std::min(kept, now() - samples_of(2 * kPreRoll_s)),
                                   now() - samples_of(kMostKept_s)));
  return found ? Status() : std::unexpected(found.error());
}

void VoiceWatch::begin_turn(int64_t at, int64_t spoken_before) {
  turn_ = Turn{.began = at,
               .spoken_before = std::max(spoken_before, int64_t{0}),
               .ended = at,
               .went_on = at};
}

// The detector counts what it heard, and did not hear all: it begins at this sample. A turn that
// was under way pauses here.
Result<TurnDetector::Found> VoiceWatch::listen_anew() {
  MYNAH_TRY_STATUS(turns_.end({}));
  is_voice_ = false;
  if (turn_) {
    turn_->ended = now();
    turn_->is_voice = false;
  }
  return TurnDetector::Found();
}

// Events come at the end of the frame that shows them.
void VoiceWatch::take(const VoiceEvent& event) {
  const int64_t frame = samples_of(voice_->frame_s());
  const int64_t at = std::max(event.at - frame, int64_t{0});
  is_voice_ = event.kind == VoiceEvent::Kind::Began || event.kind == VoiceEvent::Kind::WentOn;
  if (behind_since_) {
    return;
  }
  switch (event.kind) {
    case VoiceEvent::Kind::Paused:
      if (turn_) {
        turn_->ended = at;
        turn_->is_voice = false;
      }
      break;
    case VoiceEvent::Kind::Began:
    case VoiceEvent::Kind::WentOn:
      if (turn_) {
        turn_->went_on = at;
        turn_->is_voice = true;
      } else {
        level_.begin();
        begin_turn(at, turns_.spoken() - frame);
      }
      break;
    case VoiceEvent::Kind::Ended:
      turn_.reset();
      break;
  }
}

void VoiceWatch::watch_behind() {
  if (!behind_since_) {
    return;
  }
  if (is_voice_) {
    behind_since_ = now();
  }
  if (is_voice_ && level_.faint_s() == 0) {
    behind_since_.reset();
    const int64_t loud = kLoudFrames * samples_of(voice_->frame_s());
    begin_turn(now() - loud, turns_.spoken() - loud);
  } else if (now() - *behind_since_ >= samples_of(kGone_s)) {
    behind_since_.reset();
  }
}

void VoiceWatch::end_turn_behind_voice() {
  unheard_.reset();
  turn_.reset();
  behind_since_ = now();
}

Status VoiceWatch::end_turn(std::optional<int64_t> unheard) {
  unheard_ = unheard;
  turn_.reset();
  is_voice_ = false;
  MYNAH_TRY(const TurnDetector::Found found, turns_.end({}));
  return {};
}

}  // namespace mynah::talk
