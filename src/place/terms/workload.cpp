#include "place/terms/workload.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/terms/device_name.h"

namespace mynah::place {

const std::string& path_of(const ModelFile& file) {
  return std::visit([](const auto& one) -> const std::string& { return one.path; }, file);
}

ModelFile with_precision(ModelFile file, Precision precision) {
  std::visit(
      [precision](auto& one) {
        if constexpr (requires { one.precision; }) {
          one.precision = precision;
        }
      },
      file);
  return file;
}

bool is_wanted_exact(const ModelFile& file) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.precision; }) {
          return one.precision == Precision::Exact;
        } else {
          return false;
        }
      },
      file);
}

int64_t lower_layers_of(const ModelFile& file) {
  const LanguageFile* const language = std::get_if<LanguageFile>(&file);
  return language == nullptr ? 0 : language->lower_layers;
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
