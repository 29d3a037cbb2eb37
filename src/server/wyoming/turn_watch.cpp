#include "server/wyoming/turn_watch.h"

#include <utility>

#include "speech/hearing.h"

namespace mynah::server {
namespace {

// Who said nothing for so long says nothing any more; a turn is no longer than that.
constexpr double kMostSilence_s = 15;
constexpr double kMostTurn_s = 120;

VadOptions vad_of(const VoiceDetector& voice) {
  VadOptions vad = voice.for_recogniser({.min_speech_ms = 100});
  vad.max_speech_s = kMostTurn_s;
  return vad;
}

// One stretch, whatever is said in it, until a pause.
ChunkOptions chunks_of(double pause_s) {
  ChunkOptions chunks;
  chunks.max_s = kMostTurn_s;
  chunks.max_gap_s = pause_s;
  return chunks;
}

}  // namespace

TurnWatch::TurnWatch(std::shared_ptr<const VoiceDetector> voice, MonoReader reader,
                     const TurnWatchOptions& options)
    : voice_(std::move(voice)),
      reader_(std::move(reader)),
      turns_(*voice_, vad_of(*voice_),
             chunks_of(options.scorer == nullptr
                           ? options.pause_s
                           : end_of_turn_rule(options.eagerness).longest_silence_s)) {
  if (options.scorer != nullptr) {
    end_of_turn_.emplace(options.scorer, end_of_turn_rule(options.eagerness));
  }
}

Result<std::unique_ptr<TurnWatch>> TurnWatch::create(std::shared_ptr<const VoiceDetector> voice,
                                                     const SampleFormat& format,
                                                     const TurnWatchOptions& options) {
  MYNAH_TRY(MonoReader reader, MonoReader::create(format, kHearingRate_hz));
  return std::unique_ptr<TurnWatch>(new TurnWatch(std::move(voice), std::move(reader), options));
}

Result<std::vector<VoiceEvent>> TurnWatch::push(std::string_view bytes,
                                                const std::stop_token& stop) {
  MYNAH_TRY(const std::vector<float> samples, reader_.read(bytes));
  MYNAH_TRY(TurnDetector::Found found, turns_.push(samples, stop));
  for (const VoiceEvent& event : found.events) {
    silent_since_ = event.at;
  }
  if (end_of_turn_) {
    MYNAH_TRY(const auto end, end_of_turn_->push(samples, found.events));
    ended_ = ended_ || end.has_value();
  }
  // What is too short for speech begins and ends, too, and is no turn.
  ended_ = ended_ || !found.turns.empty();
  return std::move(found.events);
}

bool TurnWatch::is_too_long() const {
  const int64_t silent = turns_.speaking() ? 0 : turns_.heard() - silent_since_;
  return static_cast<double>(turns_.heard()) >= kMostTurn_s * kHearingRate_hz ||
         static_cast<double>(silent) >= kMostSilence_s * kHearingRate_hz;
}

}  // namespace mynah::server
