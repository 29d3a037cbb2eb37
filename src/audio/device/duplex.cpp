#include "audio/device/duplex.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

constexpr double kFrameS = static_cast<double>(kSoundFrame) / kHeardHz;
constexpr size_t kMostFrames = 3000;  // 30 s that nobody took
constexpr double kBeginS = 3;         // until a stream that was made gives its first sample
constexpr double kStalledS = 0.5;     // without a sample: the stream gives nothing
constexpr int kSilentFrames = 80;     // of zeros: no room is that still
constexpr double kJumpS = 0.005;      // the reference is set anew where it is that far off
constexpr int kLeastPlaybackMs = 40;
constexpr int kMostPlaybackMs = 160;
constexpr double kGrowsEveryS = 1;
constexpr double kPulledPerFrame = 0.02;  // of what it is off less than that: half a second's glide

}  // namespace

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Duplex::Duplex(int playback_hz)
    : playback_hz_(playback_hz),
      reader_(playback_hz, kHeardHz),
      queue_(playback_hz),
      playback_clock_(playback_hz),
      playback_ms_(kLeastPlaybackMs),
      capture_clock_(kHeardHz) {}

Result<SoundFrame> Duplex::next(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait(lock, std::move(stop), [&] { return !frames_.empty(); })) {
    return fail(ErrorCode::Cancelled, "listening was stopped");
  }
  SoundFrame frame = frames_.front();
  frames_.pop_front();
  return frame;
}

std::vector<SoundNews> Duplex::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

int64_t Duplex::play(std::span<const float> voice) {
  const std::lock_guard lock(mutex_);
  return queue_.add(voice);
}

void Duplex::pause(bool paused) {
  const std::lock_guard lock(mutex_);
  paused ? queue_.pause() : queue_.resume();
}

int64_t Duplex::drop() {
  const std::lock_guard lock(mutex_);
  queue_.drop();
  return queue_.handed_out();
}

SoundState Duplex::state(double now_s) const {
  const std::lock_guard lock(mutex_);
  SoundState state{.microphone = microphone_, .loudspeaker = loudspeaker_};
  const bool silent = listening_ == Listening::Microphone && (stalled_ || captured_ == 0);
  state.listening = silent ? Listening::Away : listening_;
  if (playing_ && playback_clock_.known()) {
    state.loudspeaker.true_rate_hz = playback_clock_.true_rate_hz();
  }
  const auto position = position_at(now_s);
  state.said = position ? std::max(said_, queue_.said_at(*position)) : said_;
  if (listening_ == Listening::Microphone && capture_clock_.known()) {
    state.microphone.true_rate_hz = capture_clock_.true_rate_hz();
  }
  if (state.loudspeaker.true_rate_hz > 0 && state.microphone.true_rate_hz > 0) {
    state.drift_ppm = 1e6 * (state.loudspeaker.true_rate_hz / playback_hz_ /
                                 (state.microphone.true_rate_hz / kHeardHz) -
                             1);
  }
  state.waiting = queue_.handed_out() + static_cast<int64_t>(queue_.waiting()) - state.said;
  state.paused = queue_.paused();
  return state;
}

void Duplex::playback_begins(SoundEnd end) {
  const std::lock_guard lock(mutex_);
  end.xruns = loudspeaker_.xruns;
  loudspeaker_ = std::move(end);
  playback_clock_.restart();
  playback_origin_ = queue_.begin_stream();
  stood_at_ = static_cast<double>(playback_origin_);
  played_to_.reset();
  playing_ = true;
}

void Duplex::pull(std::span<float> out) {
  const std::lock_guard lock(mutex_);
  queue_.pull(out);
}

void Duplex::playback_stood(double time_s, double position, double latency_s) {
  const std::lock_guard lock(mutex_);
  playback_clock_.observe(time_s, position);
  stood_at_ = std::max(stood_at_, position + static_cast<double>(playback_origin_));
  loudspeaker_.latency_s = latency_s;
}

void Duplex::playback_ends(double now_s) {
  const std::lock_guard lock(mutex_);
  if (!playing_) {
    return;
  }
  // Where it never told where it stood, nothing of it is held to have been played.
  queue_.lost(std::max({position_at(now_s).value_or(0), played_to_.value_or(0), stood_at_}));
  said_ = std::max(said_, queue_.handed_out());
  playing_ = false;
  playback_clock_.restart();
  held_at_.reset();
  loudspeaker_.name.clear();
}

void Duplex::playback_late(double now_s) {
  const std::lock_guard lock(mutex_);
  ++loudspeaker_.xruns;
  if (held_at_) {
    return;
  }
  stood_at_ = position_at(now_s).value_or(stood_at_);
  playback_clock_.broke();
  if (now_s - grown_s_ >= kGrowsEveryS && playback_ms_ < kMostPlaybackMs) {
    playback_ms_ *= 2;
    grown_s_ = now_s;
  }
}

int Duplex::playback_ms() const {
  const std::lock_guard lock(mutex_);
  return playback_ms_;
}

void Duplex::playback_held(bool held, double now_s) {
  const std::lock_guard lock(mutex_);
  if (held && !held_at_) {
    held_at_ = position_at(now_s).value_or(stood_at_);
  }
  if (!held) {
    held_at_.reset();
  }
  playback_clock_.restart();
}

void Duplex::playback_named(std::string name, std::string title) {
  const std::lock_guard lock(mutex_);
  loudspeaker_.name = std::move(name);
  loudspeaker_.title = std::move(title);
}

void Duplex::capture_begins(SoundEnd end, double now_s) {
  const std::lock_guard lock(mutex_);
  end.xruns = microphone_.xruns;
  microphone_ = std::move(end);
  capture_clock_.restart();
  captured_ = 0;
  pending_.clear();
  stalled_ = false;
  stall_told_ = false;
  silent_frames_ = 0;
  listening_ = Listening::Microphone;
  began_s_ = now_s;
}

void Duplex::captured(std::span<const float> samples, double now_s) {
  const std::lock_guard lock(mutex_);
  if (listening_ != Listening::Microphone || samples.empty()) {
    return;
  }
  stalled_ = false;
  if (std::exchange(stall_told_, false)) {
    tell_locked(SoundNews::Kind::Returned, "the microphone gives sound again");
  }
  last_heard_s_ = now_s;
  pending_.insert(pending_.end(), samples.begin(), samples.end());
  captured_ += static_cast<int64_t>(samples.size());
  size_t taken = 0;
  for (; pending_.size() - taken >= kSoundFrame; taken += kSoundFrame) {
    const std::span heard = std::span(pending_).subspan(taken, kSoundFrame);
    const auto behind = static_cast<double>(pending_.size() - taken - kSoundFrame);
    const double end_s = capture_clock_.known()
                             ? capture_clock_.time_of(static_cast<double>(captured_) - behind)
                             : now_s - behind / kHeardHz;
    watch_signal(heard);
    emit(heard, Listening::Microphone, end_s);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void Duplex::capture_stood(double time_s, double position, double latency_s) {
  const std::lock_guard lock(mutex_);
  capture_clock_.observe(time_s, position);
  microphone_.latency_s = latency_s;
}

void Duplex::capture_ends(Listening listening, double now_s) {
  const std::lock_guard lock(mutex_);
  if (listening_ == Listening::Microphone) {
    last_heard_s_ = std::max(last_heard_s_, stalled_ ? last_heard_s_ : now_s);
    microphone_.name.clear();
    capture_clock_.restart();
    pending_.clear();
    silent_frames_ = 0;
    no_signal_ = false;
  }
  stalled_ = false;
  stall_told_ = false;
  listening_ = listening;
}

void Duplex::capture_late() {
  const std::lock_guard lock(mutex_);
  ++microphone_.xruns;
}

void Duplex::capture_moved() {
  const std::lock_guard lock(mutex_);
  capture_clock_.restart();
}

void Duplex::capture_named(std::string name, std::string title) {
  const std::lock_guard lock(mutex_);
  microphone_.name = std::move(name);
  microphone_.title = std::move(title);
}

void Duplex::time_is(double now_s) {
  const std::lock_guard lock(mutex_);
  if (last_heard_s_ == 0) {
    last_heard_s_ = now_s;
  }
  const bool begun = captured_ > 0;
  if (listening_ == Listening::Microphone && !stalled_) {
    if (begun && now_s - last_heard_s_ < kStalledS) {
      return;
    }
    stalled_ = begun || now_s - began_s_ > kBeginS;
  }
  if (stalled_ && !std::exchange(stall_told_, true)) {
    tell_locked(SoundNews::Kind::Waiting,
                fmt::format("{} gives no sound (suspended, or its server hangs): waiting for it",
                            microphone_.title));
  }
  for (; now_s - last_heard_s_ >= kFrameS; last_heard_s_ += kFrameS) {
    emit({}, listening_ == Listening::Muted ? Listening::Muted : Listening::Away,
         last_heard_s_ + kFrameS);
  }
}

void Duplex::tell(SoundNews::Kind kind, std::string text) {
  const std::lock_guard lock(mutex_);
  tell_locked(kind, std::move(text));
}

void Duplex::muted_at_server(bool muted) {
  const std::lock_guard lock(mutex_);
  server_mute_ = muted;
}

void Duplex::tell_locked(SoundNews::Kind kind, std::string text) {
  news_.push_back({.kind = kind, .frame = next_number_, .text = std::move(text)});
}

void Duplex::emit(std::span<const float> heard, Listening listening, double end_s) {
  SoundFrame frame{.number = next_number_++, .listening = listening};
  std::ranges::copy(heard, frame.heard.begin());
  fill_played(frame, end_s);
  frame.said = said_;
  frames_.push_back(frame);
  if (frames_.size() > kMostFrames) {
    frames_.pop_front();
    ++microphone_.xruns;
  }
  arrived_.notify_one();
}

std::optional<double> Duplex::position_at(double time_s) const {
  if (held_at_) {
    return held_at_;
  }
  if (!playing_ || !playback_clock_.known()) {
    return std::nullopt;
  }
  return playback_clock_.position_at(time_s) + static_cast<double>(playback_origin_);
}

// The reference ends where the loudspeaker stood at `end_s`. Jitter of what is known of that would
// be heard as a wobble of its pitch: it follows slowly, and jumps where it is far off.
void Duplex::fill_played(SoundFrame& frame, double end_s) {
  const auto position = position_at(end_s);
  if (!position || held_at_) {
    played_to_.reset();
    return;
  }
  const bool by_capture = frame.listening == Listening::Microphone && capture_clock_.known();
  const double seconds = by_capture ? kSoundFrame / capture_clock_.true_rate_hz() : kFrameS;
  const double length = playback_clock_.true_rate_hz() * seconds;
  double from = played_to_.value_or(*position - length);
  double off = *position - (from + length);
  if (std::abs(off) > kJumpS * playback_hz_) {
    from = *position - length;
    off = 0;
  }
  const double to = from + length + off * kPulledPerFrame;
  reader_.read(
      from, (to - from) / kSoundFrame, [&](int64_t i) { return queue_.at(i); }, frame.played);
  played_to_ = to;
  said_ = std::max(said_, queue_.said_at(to));
}

void Duplex::watch_signal(std::span<const float> heard) {
  const bool silent = std::ranges::all_of(heard, [](float sample) { return sample == 0.0F; });
  silent_frames_ = silent ? silent_frames_ + 1 : 0;
  if (silent_frames_ == kSilentFrames) {
    no_signal_ = true;
    tell_locked(SoundNews::Kind::NoSignal,
                server_mute_
                    ? fmt::format("no signal: {} is muted at the sound server; unmute it there "
                                  "(pavucontrol, or the desktop's sound settings)",
                                  microphone_.title)
                    : fmt::format("no signal: {} gives digital silence; is it muted by its own "
                                  "switch, or the wrong device?",
                                  microphone_.title));
  } else if (!silent && std::exchange(no_signal_, false)) {
    tell_locked(SoundNews::Kind::Signal, fmt::format("{} gives sound again", microphone_.title));
  }
}

}  // namespace mynah
