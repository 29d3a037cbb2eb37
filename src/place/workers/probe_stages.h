// Probes of voices and detectors, through what they do for everybody.
#pragma once

#include <span>

#include "place/terms/stage.h"
#include "speech/probe.h"
#include "speech/voice_detector.h"
#include "speech/voice_model.h"

namespace mynah::place {

// A second of sound. Throws DeviceError.
[[nodiscard]] Result<Probe> probe_detector(const VoiceDetector& detector);

// Two short words. Where the phonemes are (tts.acoustic) and how loud it is from one piece of 10 ms
// to the next (tts.vocoder): voices draw noise, and phases of near-silence mean nothing, so samples
// themselves cannot be compared. Throws DeviceError.
[[nodiscard]] Result<Probe> probe_voice(const VoiceModel& voice);

// Phonemes of a clause, or somewhat more: bytes of their text.
[[nodiscard]] double phonemes_in(std::span<const PhonemeWord> words);

// How much work the probe of a stage is, in its unit (Measurement::step_work): so much sound, of
// windows of `window_s`.
[[nodiscard]] double probe_work(Stage stage, double sound_s, double window_s);

}  // namespace mynah::place
