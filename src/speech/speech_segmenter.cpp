// SpeechSegmenter: silero-vad utils_vad.py get_speech_timestamps_from_probs, one frame at a time.
// The reference sees the whole recording; here a span is handed out as soon as nothing that may
// still come can change it. Golden: tests/speech/golden/spans.txt.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "speech/voice_detector.h"

namespace mynah {

namespace {

// Times are whole nanoseconds: frames, milliseconds and samples at 8 and 16 kHz are exact in them,
// so that comparisons come out as the reference's do in samples.
using Nanoseconds = int64_t;

constexpr double kNanosecondsPerSecond = 1e9;
constexpr Nanoseconds kNanosecondsPerMillisecond = 1'000'000;

Nanoseconds from_seconds(double seconds) {
  return std::llround(seconds * kNanosecondsPerSecond);
}

double to_seconds(Nanoseconds time) {
  return static_cast<double>(time) / kNanosecondsPerSecond;
}

// utils_vad.py: where no negative threshold is given.
double default_negative_threshold(double threshold) {
  constexpr double kBelowThreshold = 0.15;
  constexpr double kLeast = 0.01;
  return std::max(threshold - kBelowThreshold, kLeast);
}

}  // namespace

struct SpeechSegmenter::State {
  struct Run {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;

    [[nodiscard]] Nanoseconds length() const { return end - begin; }
  };

  State(const VadOptions& options, double frame_s);

  // The options.
  double threshold;
  double negative_threshold;
  Nanoseconds frame;
  Nanoseconds min_speech;
  Nanoseconds min_silence;
  Nanoseconds min_silence_at_max_speech;
  Nanoseconds pad;
  double max_speech;  // may be infinite

  // The reference's state machine.
  Nanoseconds now = 0;                 // begin of the next frame
  std::optional<Nanoseconds> begin;    // of the speech that is going on
  std::optional<Nanoseconds> quiet;    // since when it has been below the negative threshold
  std::optional<Run> longest_silence;  // inside the speech that is going on; the first of equals

  // Padding. Two spans close together share the silence between them, so that a span's end waits
  // for the begin of the next one.
  std::optional<Nanoseconds> padded_begin;  // of the speech that is going on, once it is certain
  std::optional<Run> waiting;               // begin padded, end not yet
  Nanoseconds cut_at = 0;                   // no padding goes back behind it
  std::vector<SpeechSpan> ready;

  void step(float probability);
  bool cut_too_long_speech();
  void finish(Nanoseconds end);
  void forget_speech();
  Nanoseconds pad_apart(Nanoseconds next_begin);
  void release_what_is_certain();
  void end_recording(Nanoseconds duration);
  void restart();

  void emit(Run span) { ready.push_back({to_seconds(span.begin), to_seconds(span.end)}); }
};

SpeechSegmenter::State::State(const VadOptions& options, double frame_s)
    : threshold(options.threshold),
      negative_threshold(options.negative_threshold < 0
                             ? default_negative_threshold(options.threshold)
                             : options.negative_threshold),
      frame(from_seconds(frame_s)),
      min_speech(options.min_speech_ms * kNanosecondsPerMillisecond),
      min_silence(options.min_silence_ms * kNanosecondsPerMillisecond),
      min_silence_at_max_speech(options.min_silence_at_max_speech_ms * kNanosecondsPerMillisecond),
      pad(options.speech_pad_ms * kNanosecondsPerMillisecond),
      max_speech(options.max_speech_s * kNanosecondsPerSecond - static_cast<double>(frame) -
                 2 * static_cast<double>(pad)) {}

// One frame, in the order of the reference's loop.
void SpeechSegmenter::State::step(float probability) {
  if (probability >= threshold && quiet) {
    const Run silence{*quiet, now};
    if (silence.length() > min_silence_at_max_speech &&
        (!longest_silence || silence.length() > longest_silence->length())) {
      longest_silence = silence;
    }
    quiet.reset();
  }
  if (probability >= threshold && !begin) {
    begin = now;
    return;
  }
  if (begin && static_cast<double>(now - *begin) > max_speech && !cut_too_long_speech()) {
    return;
  }
  if (!begin || probability >= negative_threshold) {
    return;
  }
  quiet = quiet.value_or(now);
  if (now - *quiet < min_silence) {
    return;
  }
  if (*quiet - *begin > min_speech) {
    finish(*quiet);
  }
  forget_speech();
}

// Ends speech that has grown longer than allowed, whatever its length; true when speech goes on
// after the cut.
bool SpeechSegmenter::State::cut_too_long_speech() {
  const std::optional<Run> silence = longest_silence;
  finish(silence ? silence->begin : now);
  forget_speech();
  if (silence) {
    begin = silence->end;
  }
  return silence.has_value();
}

void SpeechSegmenter::State::finish(Nanoseconds end) {
  const Nanoseconds from = padded_begin ? *padded_begin : pad_apart(*begin);
  waiting = Run{from, end};
}

void SpeechSegmenter::State::forget_speech() {
  begin.reset();
  quiet.reset();
  longest_silence.reset();
  padded_begin.reset();
}

// Returns the begin of a span with its padding; a span that waits gets its own end and is ready.
Nanoseconds SpeechSegmenter::State::pad_apart(Nanoseconds next_begin) {
  Nanoseconds each = pad;
  if (waiting) {
    const Nanoseconds silence = next_begin - waiting->end;
    each = silence < 2 * pad ? silence / 2 : pad;
    emit({waiting->begin, waiting->end + each});
    waiting.reset();
  }
  return std::max(cut_at, next_begin - each);
}

// Called between frames.
void SpeechSegmenter::State::release_what_is_certain() {
  if (!waiting) {
    return;
  }
  // The recording lasts beyond the begin of the last frame: so much of the padding is there.
  const Nanoseconds last_frame = now - frame;
  const Nanoseconds next_begin = begin.value_or(now);
  if (next_begin - waiting->end >= 2 * pad && waiting->end + pad <= last_frame) {
    emit({waiting->begin, waiting->end + pad});
    waiting.reset();
  } else if (begin && quiet.value_or(last_frame) - *begin > min_speech) {
    padded_begin = pad_apart(*begin);  // too long already to be dropped
  }
}

void SpeechSegmenter::State::end_recording(Nanoseconds duration) {
  if (begin && duration - *begin > min_speech) {
    finish(duration);
  }
  if (waiting) {
    emit({waiting->begin, std::min(duration, waiting->end + pad)});
  }
}

void SpeechSegmenter::State::restart() {
  now = 0;
  cut_at = 0;
  forget_speech();
  waiting.reset();
  ready.clear();
}

SpeechSegmenter::SpeechSegmenter(const VadOptions& options, double frame_s)
    : state_(std::make_unique<State>(options, frame_s)) {}

SpeechSegmenter::~SpeechSegmenter() = default;
SpeechSegmenter::SpeechSegmenter(SpeechSegmenter&&) noexcept = default;
SpeechSegmenter& SpeechSegmenter::operator=(SpeechSegmenter&&) noexcept = default;

std::vector<SpeechSpan> SpeechSegmenter::push(std::span<const float> probabilities) {
  for (const float probability : probabilities) {
    state_->step(probability);
    state_->now += state_->frame;
    state_->release_what_is_certain();
  }
  return std::exchange(state_->ready, {});
}

std::vector<SpeechSpan> SpeechSegmenter::flush(double duration_s) {
  state_->end_recording(from_seconds(duration_s));
  std::vector<SpeechSpan> spans = std::exchange(state_->ready, {});
  state_->restart();
  return spans;
}

void SpeechSegmenter::reset() {
  state_->restart();
}

bool SpeechSegmenter::speaking() const {
  return state_->begin.has_value();
}

bool SpeechSegmenter::holds_speech() const {
  return state_->begin.has_value() || state_->waiting.has_value();
}

bool SpeechSegmenter::pausing() const {
  return !state_->begin || state_->quiet;
}

std::vector<SpeechSpan> SpeechSegmenter::cut() {
  if (state_->begin) {
    state_->finish(state_->now);
    state_->forget_speech();
    state_->emit(*std::exchange(state_->waiting, std::nullopt));
    state_->cut_at = state_->now;
  }
  return std::exchange(state_->ready, {});
}

double SpeechSegmenter::known_until() const {
  if (state_->waiting) {
    return to_seconds(state_->waiting->begin);
  }
  const Nanoseconds first = state_->begin.value_or(state_->now);
  const Nanoseconds padded = std::max(state_->cut_at, first - state_->pad);
  return to_seconds(state_->padded_begin.value_or(padded));
}

}  // namespace mynah
