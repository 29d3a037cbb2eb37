// A clause as a model says it, made what the user asked for: its speed, its edges.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "speech/voice_model.h"
#include "text/phonemes/phonemizer.h"

namespace mynah {

// Speech of the words without silence at its ends, in 1 / settings.speed of the time that the model
// takes at its own speed, whatever the model does with a speed. Errors as the model's.
[[nodiscard]] Result<ClauseSound> speak_clause(const VoiceModel& model,
                                               std::span<const PhonemeWord> words,
                                               const VoiceSettings& settings);

// Times `volume`. With a gain by that too, and then no true peak goes beyond kMostPeak_dBTP.
void set_level(ClauseSound& sound, int rate_hz, float volume, std::optional<double> gain_db);

}  // namespace mynah
