#include "engine/discovery_search.h"

#include <filesystem>

#include <fmt/format.h>

#include "engine/store_folders.h"
#include "engine/version.h"
#include "place/discovery/device_cache.h"

namespace mynah::engine {

gpu::GpuSearch card_search(const Environment& environment) {
  gpu::GpuSearch search;
  search.driver.file = environment.get("MYNAH_CUDA_DRIVER").value_or("");
  // Set and empty hides every card.
  constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES";
  if (!environment.names_with(kVisible).empty()) {
    search.visible_devices = environment.get(std::string(kVisible)).value_or("");
  }
  return search;
}

std::string program_build() {
  // Two builds of one commit with changes differ by their file.
  return fmt::format("{}, {}", version_line(), place::file_stamp("/proc/self/exe"));
}

std::string worker_program(const Environment& environment) {
  if (const auto named = environment.get("MYNAH_WORKER")) {
    return *named;
  }
  constexpr const char* kSelf = "/proc/self/exe";
  std::error_code error;
  const auto self = std::filesystem::read_symlink(kSelf, error);
  const std::filesystem::path program = self.parent_path() / "mynah";
  // The link leads to this very program also once another lies in its place, or none.
  if (self == program || self == program.string() + " (deleted)") {
    return kSelf;
  }
  return std::filesystem::exists(program, error) ? program.string() : std::string();
}

place::DiscoverySearch discovery_search(const Environment& environment) {
  place::DiscoverySearch search;
  search.gpus = card_search(environment);
  search.nvml.file = environment.get("MYNAH_NVML").value_or("");
  // Which library the loader takes; the order and number of devices.
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_DEVICE_ORDER",
                           "CUDA_MPS_PIPE_DIRECTORY", "NVIDIA_VISIBLE_DEVICES"}) {
    if (const auto value = environment.get(name)) {
      search.variables += fmt::format("{}={}\n", name, *value);
    }
  }
  search.cache_file = store_folders(environment).cache + "/devices";
  search.build = program_build();
  search.worker_program = worker_program(environment);
  return search;
}

}  // namespace mynah::engine
