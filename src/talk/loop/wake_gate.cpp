#include "talk/loop/wake_gate.h"

#include <algorithm>
#include <utility>

#include "speech/hearing.h"

namespace mynah::talk {

namespace {

// Digital silence behind which no word is still to be known.
constexpr double kRests_s = 1;
// Of what the conversation was behind: as much as it is usually given at once.
constexpr int64_t kPiece = kHearingRate_hz / 100;

}  // namespace

WakeGate::WakeGate(Conversation& conversation, std::unique_ptr<WakeEar> ear,
                   const WakeSettings& settings)
    : conversation_(conversation), ear_(std::move(ear)), settings_(settings) {}

void WakeGate::step(std::span<const float> captured, std::vector<float>& played) {
  if (ear_ == nullptr) {
    conversation_.step(captured, played);
    return;
  }
  const bool was_awake = awake_;
  now_ += static_cast<int64_t>(captured.size());
  if (std::ranges::any_of(captured, [](float sample) { return sample != 0; })) {
    silent_since_ = now_;
  }
  held_.append(captured);
  made_.clear();
  if (!awake_) {
    if (const auto hit = ear_->hear(captured); !hit) {
      events_.push_back({.kind = TalkEvent::Kind::Fault,
                         .at = now_,
                         .fault = OrganFault{.organ = Organ::Ear, .error = hit.error()}});
    } else if (*hit) {
      wake(**hit);
    }
  }
  pass_on(awake_ ? now_ : now_ - samples_of(kWakeLate_s));
  if (awake_) {
    follow();
  }
  if (!was_awake) {
    fit_played();
  }
  played_ += static_cast<int64_t>(made_.size());
  played.insert(played.end(), made_.begin(), made_.end());
}

// Nothing sounds while it sleeps: what is missing is silence, and so is what comes too much when
// the conversation catches up.
void WakeGate::fit_played() {
  const int64_t missing = now_ * settings_.played_hz / kHearingRate_hz - played_;
  const auto due = static_cast<size_t>(std::max(missing, int64_t{0}));
  if (made_.size() > due) {
    const auto sound = std::ranges::find_if(made_, [](float sample) { return sample != 0; });
    made_.erase(made_.begin(), std::min(sound, made_.end() - static_cast<std::ptrdiff_t>(due)));
  }
  made_.resize(std::max(made_.size(), due), 0.0F);
}

void WakeGate::pass_on(int64_t until) {
  std::vector<float> piece;
  while (held_.begin() < until) {
    const int64_t begin = held_.begin();
    const int64_t end = std::min(begin + kPiece, until);
    const auto samples = held_.slice(begin, end);
    piece.assign(samples.begin(), samples.end());
    const int64_t unheard = std::clamp(heard_from_ - begin, int64_t{0}, end - begin);
    std::fill_n(piece.begin(), unheard, 0.0F);
    held_.discard_before(end);
    conversation_.step(piece, made_);
  }
}

void WakeGate::wake(const WakeHit& hit) {
  awake_ = true;
  heard_from_ = std::clamp(slept_at_ + hit.end, held_.begin(), now_);
  stirred_at_ = now_;
  events_.push_back({.kind = TalkEvent::Kind::Woke, .at = heard_from_, .text = hit.word});
}

void WakeGate::follow() {
  for (TalkEvent& event : conversation_.take_events()) {
    const bool stirs = event.kind == TalkEvent::Kind::Said ||
                       (event.kind == TalkEvent::Kind::Heard && !event.text.empty());
    if (stirs) {
      stirred_at_ = now_;
    }
    events_.push_back(std::move(event));
  }
  if (now_ - stirred_at_ >= samples_of(settings_.window_s) && conversation_.is_at_rest()) {
    sleep();
  }
}

void WakeGate::sleep() {
  awake_ = false;
  heard_from_ = kNothing;
  slept_at_ = now_;
  ear_->reset();
  events_.push_back({.kind = TalkEvent::Kind::Sleeps, .at = now_});
}

std::vector<TalkEvent> WakeGate::take_events() {
  std::vector<TalkEvent> events = std::exchange(events_, {});
  std::ranges::move(conversation_.take_events(), std::back_inserter(events));
  return events;
}

bool WakeGate::is_working() const {
  return conversation_.is_working() || (ear_ != nullptr && !awake_ && ear_->is_working());
}

bool WakeGate::is_at_rest() const {
  const bool listens =
      !is_awake() && (ear_->is_working() || now_ - silent_since_ < samples_of(kRests_s));
  return !listens && conversation_.is_at_rest();
}

}  // namespace mynah::talk
