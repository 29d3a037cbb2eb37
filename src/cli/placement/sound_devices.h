// `mynah devices --sound`: microphones and loudspeakers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audio/device/open_device.h"
#include "cli/command/verb.h"

namespace mynah::cli {

// A table with a heading of what each system has, and why one has nothing.
[[nodiscard]] std::vector<std::string> sound_table(std::span<const SoundSystem> systems);

// A line of JSON for each device, and one for a system that has none ("absent").
[[nodiscard]] std::vector<std::string> sound_json(std::span<const SoundSystem> systems);

// Prints what there is. No device is no error.
void show_sound_devices(Context& context);

}  // namespace mynah::cli
