// The sound devices of this machine, listed and opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "audio/device/sound_device.h"
#include "base/result.h"

namespace mynah {

// What to open.
struct SoundOptions {
  // "pulse:NAME", "alsa:NAME", "pulse", "alsa"; empty: the default device of libpulse where a
  // server answers, else of ALSA. Both ends are of one system: the one named decides.
  std::string microphone;
  std::string loudspeaker;
  int playback_hz = 24000;
  // Of a sound server, as PULSE_SERVER says it; empty: what the system says.
  std::string server;
};

// Errors: Usage where a name is none of these or both ends are of different systems; Environment
// where no sound system answers or the device is not there: what was asked, what there is, and what
// to do.
Result<std::unique_ptr<SoundDevice>> open_sound_device(const SoundOptions& options);

// A device that could be opened.
struct SoundChoice {
  std::string name;   // for SoundOptions: "pulse:alsa_input.pci-0000"
  std::string title;  // for people
  bool microphone = false;
  bool loudspeaker = false;
  bool usual = false;  // what is opened where none is named
  bool muted = false;  // at the sound server
};

// What there is in one system.
struct SoundSystem {
  std::string system;  // "pulse", "alsa"
  std::string server;  // "pulseaudio 16.1", "PulseAudio (on PipeWire 1.0.5)"; empty where none is
  std::string absent;  // why there is nothing, and what to do; empty where it answers
  std::vector<SoundChoice> devices;
};

// pulse, then alsa. `server` as in SoundOptions.
std::vector<SoundSystem> list_sound_devices(const std::string& server);

}  // namespace mynah
