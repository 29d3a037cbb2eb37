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
  MYNAH_TRY(const TurnDetector::Found found, turns_.push(samples, {}));
  for (const VoiceEvent& event : found.events) {
    take(event);
  }
  const int64_t kept = turn_ ? begin() : unheard_.value_or(now());
  samples_.discard_before(std::max(std::min(kept, now() - samples_of(2 * kPreRoll_s)),
                                   now() - samples_of(kMostKept_s)));
  return {};
}

// Events come at the end of the frame that shows them.
void VoiceWatch::take(const VoiceEvent& event) {
  const int64_t frame = samples_of(voice_->frame_s());
  const int64_t at = std::max(event.at - frame, int64_t{0});
  switch (event.kind) {
    case VoiceEvent::Kind::Began:
      turn_ = Turn{.began = at,
                   .spoken_before = std::max(turns_.spoken() - frame, int64_t{0}),
                   .ended = at,
                   .went_on = at};
      break;
    case VoiceEvent::Kind::Paused:
      turn_->ended = at;
      turn_->is_voice = false;
      break;
    case VoiceEvent::Kind::WentOn:
      turn_->went_on = at;
      turn_->is_voice = true;
      break;
    case VoiceEvent::Kind::Ended:
      turn_.reset();
      break;
  }
}

Status VoiceWatch::end_turn(std::optional<int64_t> unheard) {
  unheard_ = unheard;
  turn_.reset();
  MYNAH_TRY(const TurnDetector::Found found, turns_.end({}));
  return {};
}

}  // namespace mynah::talk
