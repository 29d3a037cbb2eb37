// The probe of a Whisper model.
#pragma once

#include "models/whisper/model.h"
#include "speech/probe.h"

namespace mynah {

// A second of sound, without the cached silence: the encoder's states, the logits of the start
// sequence, and a few tokens by the steps that texts are decoded with. Throws DeviceError.
[[nodiscard]] Result<Probe> probe_whisper(const whisper::Model& model);

}  // namespace mynah
