// Probes of voices and detectors, through what they do for everybody.
#pragma once

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

}  // namespace mynah::place
