// The probe of a Whisper model.
#pragma once

#include "models/whisper/model.h"
#include "speech/probe.h"

namespace mynah {

// A second of sound, without the cached silence: the encoder's states, the logits of the start
// sequence, and a few tokens by the steps that texts are decoded with. Throws DeviceError.
[[nodiscard]] Result<Probe> probe_whisper(const whisper::Model& model);

// Hears one full window, far enough that the device holds all that listening needs at once with the
// default options: the encoder's values, keys and values of the window, of silence and of every
// sequence at its longest, and logits. A further window of a batch keeps its own keys, values and
// logits; the encoder hears one after the other. Both stages on one device. Throws DeviceError.
[[nodiscard]] WindowMemory memory_of_windows(const whisper::Model& model);

}  // namespace mynah
