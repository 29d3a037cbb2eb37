#include "audio/device/open_device.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "audio/device/alsa_device.h"
#include "audio/device/pulse_device.h"

namespace mynah {
namespace {

// "pulse:NAME" as both of its parts.
struct NamedSound {
  std::string system;  // empty: none was named
  std::string name;
};

Result<NamedSound> parsed(const std::string& text, std::string_view what) {
  const size_t colon = text.find(':');
  NamedSound named{.system = text.substr(0, colon),
                   .name = colon == std::string::npos ? "" : text.substr(colon + 1)};
  const bool known = named.system.empty() || named.system == "pulse" || named.system == "alsa";
  if (!known || text == ":") {
    return fail(
        ErrorCode::Usage,
        fmt::format("{} {} is no device: wanted pulse:NAME or alsa:NAME, such as pulse:{} or "
                    "alsa:hw:0; `mynah devices --sound` lists them",
                    what, text, text));
  }
  return named;
}

}  // namespace

Result<std::unique_ptr<SoundDevice>> open_sound_device(const SoundOptions& options) {
  MYNAH_TRY(const NamedSound microphone, parsed(options.microphone, "the microphone"));
  MYNAH_TRY(const NamedSound loudspeaker, parsed(options.loudspeaker, "the loudspeaker"));
  if (!microphone.system.empty() && !loudspeaker.system.empty() &&
      microphone.system != loudspeaker.system) {
    return fail(ErrorCode::Usage,
                fmt::format("{} and {} are of different systems: name both of one, so that they "
                            "have one clock",
                            options.microphone, options.loudspeaker));
  }
  const std::string& system = microphone.system.empty() ? loudspeaker.system : microphone.system;
  const auto by_alsa = [&] {
    return open_alsa_device(microphone.name, loudspeaker.name, options.playback_hz);
  };
  if (system == "alsa") {
    return by_alsa();
  }
  auto by_pulse = open_pulse_device(microphone.name, loudspeaker.name, options);
  if (by_pulse || system == "pulse") {
    return by_pulse;
  }
  auto without_server = by_alsa();
  if (without_server) {
    return without_server;
  }
  return fail(ErrorCode::Environment,
              fmt::format("{}; {}", by_pulse.error().message, without_server.error().message));
}

std::vector<SoundSystem> list_sound_devices(const std::string& server) {
  std::vector<SoundSystem> systems;
  systems.push_back(list_pulse_devices(server));
  systems.push_back(list_alsa_devices());
  return systems;
}

}  // namespace mynah
