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
// logits; the encoder hears one after the other. Then a few tokens are decoded as texts are, so
// that whoever watches sees the longest steps that there are. Both stages on one device. Throws
// DeviceError.
[[nodiscard]] Result<WindowMemory> hear_full_window(const whisper::Model& model);

}  // namespace mynah
