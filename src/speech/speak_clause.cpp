#include "speech/speak_clause.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "audio/loudness.h"
#include "audio/time_stretch.h"
#include "speech/clause_edges.h"
#include "speech/synthesizer.h"

namespace mynah {
namespace {

void stretch(ClauseSound& sound, int rate_hz, double speed) {
  sound.samples = stretch_time(sound.samples, rate_hz, speed);
  const auto moved = [&](size_t at) {
    return static_cast<size_t>(std::lround(static_cast<double>(at) / speed));
  };
  for (auto& word : sound.words) {
    for (PhonemeSound& phoneme : word) {
      phoneme.span = {.begin = moved(phoneme.span.begin), .end = moved(phoneme.span.end)};
    }
  }
}

}  // namespace

Result<ClauseSound> speak_clause(const VoiceModel& model, std::span<const PhonemeWord> words,
                                 const VoiceSettings& settings) {
  VoiceSettings own = settings;
  own.speed = 1;
  MYNAH_TRY(ClauseSound sound, model.speak(words, own));
  // What is cut off is found at the model's own speed, so that all else takes its part of the time
  // to the sample.
  trim_clause(sound, model.rate_hz());
  if (settings.speed != 1.0F) {
    stretch(sound, model.rate_hz(), settings.speed);
  }
  return sound;
}

void set_level(ClauseSound& sound, int rate_hz, float volume, std::optional<double> gain_db) {
  const float factor =
      gain_db ? volume * static_cast<float>(std::pow(10.0, *gain_db / 20)) : volume;
  for (float& sample : sound.samples) {
    sample *= factor;
  }
  if (gain_db) {
    limit_peaks(sound.samples, rate_hz, kMostPeak_dBTP);
  }
}

}  // namespace mynah
