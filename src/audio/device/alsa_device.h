// A microphone and a loudspeaker by ALSA, for machines without a sound server.
#pragma once

#include <memory>
#include <string>

#include "audio/device/open_device.h"
#include "audio/device/sound_device.h"

namespace mynah {

// Opens both by the names that alsa.conf knows, empty for "default". Afterwards a device that is
// gone is waited for. Errors as open_sound_device has them.
Result<std::unique_ptr<SoundDevice>> open_alsa_device(const std::string& microphone,
                                                      const std::string& loudspeaker,
                                                      int playback_hz);

// What ALSA's configuration names: the default, cards with conversion, servers' plugins.
SoundSystem list_alsa_devices();

}  // namespace mynah
