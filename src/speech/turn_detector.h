// TurnDetector: what a recording, or somebody who is still speaking, says in one go. Voice
// activity, the spans that it makes and the windows that these make, for files and live sessions
// alike.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "speech/hearing.h"
#include "speech/speech_chunker.h"
#include "speech/voice_detector.h"
#include "speech/voice_event.h"

namespace mynah {

// What is heard at once.
struct Turn {
  SampleRange range;          // of the recording, with padding
  SampleRange speech;         // where in it somebody speaks, about
  bool surely_speech = true;  // and not a knock or a bark

  bool operator==(const Turn&) const = default;
};

// The user's knobs as they are meant where this family hears what is found:
// VoiceDetector::for_recogniser(), but with the thresholds that were asked for where the family
// does not know silence.
[[nodiscard]] VadOptions knobs_for(const HearingFacts& facts, const VoiceDetector& voice,
                                   const VadOptions& asked);

// One recording; one thread at a time. What it finds does not hang on how the samples come.
class TurnDetector {
 public:
  // What was found since the last call.
  struct Found {
    std::vector<Turn> turns;  // complete, in order
    std::vector<VoiceEvent> events;
  };

  // The detector of voice must outlive it.
  TurnDetector(const VoiceDetector& voice, const VadOptions& vad, const ChunkOptions& chunks);

  // Listens to the samples that come next; nothing is decoded. Errors: the detector's device, and
  // Cancelled once stop is requested: it hears no more then.
  Result<Found> push(std::span<const float> samples, const std::stop_token& stop);

  // Nothing follows for a while, or for ever: all that was said is handed out. What comes after is
  // listened to anew. Errors: as push().
  Result<Found> end(const std::stop_token& stop);

  // Samples that came.
  [[nodiscard]] int64_t heard() const { return heard_; }

  // Samples in which somebody spoke, pauses left out.
  [[nodiscard]] int64_t spoken() const {
    return samples_of(static_cast<double>(spoken_frames_) * voice_.frame_s());
  }

  // No turn that was not handed out begins before this sample.
  [[nodiscard]] int64_t known_until() const;

  // Whether somebody is at it: between Began and Ended.
  [[nodiscard]] bool speaking() const { return speaking_; }

  // Whether nothing was said in the last frames, though the turn may go on.
  [[nodiscard]] bool pausing() const { return segmenter_.pausing(); }

  // Whether something was said that is not handed out.
  [[nodiscard]] bool holds_speech() const { return segmenter_.holds_speech() || chunker_.open(); }

  // Where the turn that goes on will begin.
  [[nodiscard]] int64_t begin() const;

  // No turn that is still to come begins before: samples before it are not needed any more.
  [[nodiscard]] int64_t earliest_begin() const;

  // Whether the detector is sure of what it finds.
  [[nodiscard]] bool is_sure() const { return voice_.is_sure(); }

 private:
  // One more frame.
  void step(float probability, Found& found);
  void tell(bool speaking, bool pausing, Found& found);
  void add(std::span<const SpeechChunk> chunks, Found& found);
  [[nodiscard]] double now_s() const;

  const VoiceDetector& voice_;
  ChunkOptions chunks_;
  std::unique_ptr<VoiceDetector::Session> session_;
  SpeechSegmenter segmenter_;
  SpeechChunker chunker_;
  LongSpeech long_speech_;
  int64_t heard_ = 0;          // samples
  int64_t begin_ = 0;          // of them: where it began to listen anew
  int64_t frames_ = 0;         // since then
  int64_t spoken_frames_ = 0;  // of all
  bool speaking_ = false;
  bool paused_ = false;
};

}  // namespace mynah
