#include "place/terms/workload.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/terms/device_name.h"

namespace mynah::place {

StageGroup group_of(const ModelFile& file) {
  if (std::holds_alternative<DetectorFile>(file)) {
    return StageGroup::Vad;
  }
  return std::holds_alternative<WindowsFile>(file) ? StageGroup::Stt : StageGroup::Tts;
}

const std::string& path_of(const ModelFile& file) {
  return std::visit([](const auto& one) -> const std::string& { return one.path; }, file);
}

ModelFile with_precision(ModelFile file, Precision precision) {
  if (auto* const windows = std::get_if<WindowsFile>(&file)) {
    windows->precision = precision;
  } else if (auto* const voice = std::get_if<VoiceModelFile>(&file)) {
    voice->precision = precision;
  }
  return file;
}

StagePlaces all_on(StageGroup group, const StageDevice& where) {
  StagePlaces places;
  for (const Stage stage : stages_of(group)) {
    places[stage] = where;
  }
  return places;
}

std::string devices_of(const StagePlaces& places) {
  std::string devices;
  for (const auto& [stage, where] : places) {
    if (devices.empty()) {
      devices = where.device;
    } else if (!devices.ends_with(where.device)) {
      devices += "," + where.device;
    }
  }
  return devices;
}

bool is_apart(const StagePlaces& places) {
  return std::ranges::any_of(places, [&](const auto& entry) {
    return entry.second.device != places.begin()->second.device;
  });
}

std::string worker_key(const StagePlaces& places) {
  std::set<std::string> devices;
  for (const auto& [stage, where] : places) {
    if (!is_processor(where.device)) {
      devices.insert(where.device);
    }
  }
  return fmt::format("{}", fmt::join(devices, "+"));
}

bool is_here(const StagePlaces& places) {
  return std::ranges::all_of(places,
                             [](const auto& entry) { return is_processor(entry.second.device); });
}

}  // namespace mynah::place
