#include "speech/turn_detector.h"

#include <algorithm>
#include <iterator>

#include "base/stop_scope.h"
#include "speech/hearing.h"

namespace mynah {

VadOptions knobs_for(const HearingFacts& facts, const VoiceDetector& voice,
                     const VadOptions& asked) {
  VadOptions knobs = voice.for_recogniser(asked);
  if (!facts.knows_silence) {
    knobs.threshold = asked.threshold;
    knobs.negative_threshold = asked.negative_threshold;
  }
  return knobs;
}

TurnDetector::TurnDetector(const VoiceDetector& voice, const VadOptions& vad,
                           const ChunkOptions& chunks)
    : voice_(voice),
      chunks_(chunks),
      session_(voice.session()),
      segmenter_(vad, voice.frame_s()),
      chunker_(chunks, kHearingRate_hz),
      long_speech_(kHearingRate_hz) {}

double TurnDetector::now_s() const {
  return static_cast<double>(frames_) * voice_.frame_s();
}

Result<TurnDetector::Found> TurnDetector::push(std::span<const float> samples,
                                               const std::stop_token& stop) {
  const StopScope wanted(stop);
  heard_ += static_cast<int64_t>(samples.size());
  MYNAH_TRY(const std::vector<float> probabilities, session_->push(samples));
  Found found;
  for (const float probability : probabilities) {
    step(probability, found);
  }
  return found;
}

// Frame by frame, so that where a turn ends does not hang on how the samples come.
void TurnDetector::step(float probability, Found& found) {
  ++frames_;
  std::vector<SpeechSpan> spans = segmenter_.push({&probability, 1});
  if (chunks_.live && segmenter_.speaking() &&
      chunker_.is_full(segmenter_.known_until(), now_s())) {
    std::ranges::move(segmenter_.cut(), std::back_inserter(spans));
  }
  spoken_frames_ += segmenter_.pausing() ? 0 : 1;
  long_speech_.add(spans);
  add(chunker_.push(spans, segmenter_.known_until()), found);
  tell(segmenter_.speaking() || chunker_.open(), segmenter_.pausing(), found);
}

void TurnDetector::tell(bool speaking, bool pausing, Found& found) {
  const auto now = [this] { return begin_ + samples_of(now_s()); };
  if (speaking != speaking_) {
    found.events.push_back({speaking ? VoiceEvent::Kind::Began : VoiceEvent::Kind::Ended, now()});
  } else if (speaking && pausing != paused_) {
    found.events.push_back({pausing ? VoiceEvent::Kind::Paused : VoiceEvent::Kind::WentOn, now()});
  }
  speaking_ = speaking;
  paused_ = pausing;
}

void TurnDetector::add(std::span<const SpeechChunk> chunks, Found& found) {
  for (const SpeechChunk& chunk : chunks) {
    const bool sure = long_speech_.in(chunk.range) && voice_.is_sure();
    found.turns.push_back({.range = {begin_ + chunk.range.begin, begin_ + chunk.range.end},
                           .speech = {begin_ + chunk.speech.begin, begin_ + chunk.speech.end},
                           .surely_speech = sure});
  }
}

Result<TurnDetector::Found> TurnDetector::end(const std::stop_token& stop) {
  const StopScope wanted(stop);
  MYNAH_TRY(const std::vector<float> probabilities, session_->flush());
  Found found;
  for (const float probability : probabilities) {
    step(probability, found);
  }
  const double duration_s = seconds_of(heard_ - begin_);
  const std::vector<SpeechSpan> spans = segmenter_.flush(duration_s);
  long_speech_.add(spans);
  add(chunker_.push(spans, 0), found);
  add(chunker_.flush(duration_s), found);
  tell(false, true, found);
  session_->reset();
  chunker_ = SpeechChunker(chunks_, kHearingRate_hz);
  long_speech_ = LongSpeech(kHearingRate_hz);
  begin_ = heard_;
  frames_ = 0;
  return found;
}

int64_t TurnDetector::known_until() const {
  return begin_ + samples_of(segmenter_.known_until());
}

int64_t TurnDetector::begin() const {
  return begin_ + chunker_.begin_of(segmenter_.known_until(), now_s());
}

int64_t TurnDetector::earliest_begin() const {
  return begin_ + chunker_.earliest_begin(segmenter_.known_until());
}

}  // namespace mynah
