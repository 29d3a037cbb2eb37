#include "server/wyoming/turn_watch.h"

#include <cmath>
#include <cstdint>
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

TurnWatch::TurnWatch(std::shared_ptr<const VoiceDetector> voice, const SampleFormat& format,
                     double pause_s)
    : voice_(std::move(voice)),
      format_(format),
      turns_(*voice_, vad_of(*voice_), chunks_of(pause_s)) {}

Result<std::unique_ptr<TurnWatch>> TurnWatch::create(std::shared_ptr<const VoiceDetector> voice,
                                                     const SampleFormat& format, double pause_s) {
  std::unique_ptr<TurnWatch> watch(new TurnWatch(std::move(voice), format, pause_s));
  if (format.rate_hz != kHearingRate_hz) {
    MYNAH_TRY(watch->resampler_, Resampler::create(format.rate_hz, kHearingRate_hz));
  }
  return watch;
}

std::vector<float> TurnWatch::mono_of(std::string_view bytes) {
  left_ += bytes;
  const auto width = static_cast<size_t>(format_.width);
  const size_t frame = width * static_cast<size_t>(format_.channels);
  const size_t frames = left_.size() / frame;
  const auto full_scale = static_cast<float>(std::ldexp(1.0, 8 * format_.width - 1));
  std::vector<float> mono(frames);
  for (size_t i = 0; i < frames; ++i) {
    float sum = 0;
    for (size_t at = i * frame; at < (i + 1) * frame; at += width) {
      uint32_t value = 0;  // its bytes at the upper end, so that the sign is the number's
      for (size_t byte = 0; byte < width; ++byte) {
        value |= static_cast<uint32_t>(static_cast<unsigned char>(left_[at + byte]))
                 << (8 * (sizeof(value) - width + byte));
      }
      if (width == 1) {
        value ^= UINT32_C(1) << 31U;
      }
      sum += static_cast<float>(static_cast<int32_t>(value) >> (8 * (sizeof(value) - width)));
    }
    mono[i] = sum / (full_scale * static_cast<float>(format_.channels));
  }
  left_.erase(0, frames * frame);
  return mono;
}

Result<std::vector<VoiceEvent>> TurnWatch::push(std::string_view bytes,
                                                const std::stop_token& stop) {
  std::vector<float> samples = mono_of(bytes);
  if (resampler_) {
    std::vector<float> changed;
    MYNAH_TRY_STATUS(resampler_->push(samples, changed));
    samples = std::move(changed);
  }
  MYNAH_TRY(TurnDetector::Found found, turns_.push(samples, stop));
  for (const VoiceEvent& event : found.events) {
    silent_since_ = event.at;
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
