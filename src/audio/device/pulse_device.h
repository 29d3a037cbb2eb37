// A microphone and a loudspeaker at PulseAudio or PipeWire.
#pragma once

#include <memory>
#include <string>

#include "audio/device/open_device.h"
#include "audio/device/sound_device.h"

namespace mynah {

// Opens both by the server's own names, empty for the usual ones, and waits until sound flows.
// Afterwards nothing is an error: the device waits for a server or a device that is gone, says so,
// and goes on when it is back, or on the new usual device where none was named. Errors as
// open_sound_device has them.
Result<std::unique_ptr<SoundDevice>> open_pulse_device(const std::string& microphone,
                                                       const std::string& loudspeaker,
                                                       const SoundOptions& options);

// What there is at the server.
SoundSystem list_pulse_devices(const std::string& server);

}  // namespace mynah
