#include "cli/placement/sound_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/placement/devices.h"

namespace mynah::cli {

namespace {

// "microphone, the usual one, muted".
std::string words_of(const SoundChoice& device) {
  std::vector<std::string> words;
  if (device.microphone) {
    words.emplace_back("microphone");
  }
  if (device.loudspeaker) {
    words.emplace_back("loudspeaker");
  }
  if (device.usual) {
    words.emplace_back("the usual one");
  }
  if (device.muted) {
    words.emplace_back("muted");
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::vector<std::string> sound_table(std::span<const SoundSystem> systems) {
  std::vector<std::vector<std::string>> rows = {{"device", "is", "name"}};
  std::vector<std::string> absences;
  for (const SoundSystem& system : systems) {
    for (const SoundChoice& device : system.devices) {
      rows.push_back({device.name, words_of(device), device.title});
    }
    if (!system.absent.empty()) {
      absences.push_back(fmt::format("{}: {}", system.system, system.absent));
    }
  }
  std::vector<std::string> lines;
  if (rows.size() > 1) {
    lines = aligned(rows);
    if (!absences.empty()) {
      lines.emplace_back();
    }
  }
  lines.insert(lines.end(), absences.begin(), absences.end());
  return lines;
}

std::vector<std::string> sound_json(std::span<const SoundSystem> systems) {
  std::vector<std::string> lines;
  const auto add = [&](const nlohmann::json& json) {
    // A device's name may be no UTF-8.
    lines.push_back(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  for (const SoundSystem& system : systems) {
    for (const SoundChoice& device : system.devices) {
      add({{"sound", device.name},
           {"system", system.system},
           {"server", system.server},
           {"title", device.title},
           {"microphone", device.microphone},
           {"loudspeaker", device.loudspeaker},
           {"usual", device.usual},
           {"muted", device.muted}});
    }
    if (!system.absent.empty()) {
      add({{"system", system.system}, {"absent", system.absent}});
    }
  }
  return lines;
}

void show_sound_devices(Context& context) {
  const std::vector<SoundSystem> systems = list_sound_devices({});
  for (const std::string& line : context.json ? sound_json(systems) : sound_table(systems)) {
    context.out.line(line);
  }
}

}  // namespace mynah::cli
