#include "gpu/nvml.h"

#include <algorithm>
#include <array>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "gpu/nvml_errors.h"

namespace mynah::gpu {
namespace {

// Calls a function that an old library may not have.
template <class... Parameters, class... Arguments>
NvmlResult ask(NvmlResult (*function)(Parameters...), Arguments... arguments) {
  return function == nullptr ? NVML_ERROR_FUNCTION_NOT_FOUND : function(arguments...);
}

// Names and UUIDs have at most 96 characters (NVML_DEVICE_NAME_V2_BUFFER_SIZE).
template <class Ask>
std::string ask_text(Ask&& question) {
  std::array<char, 256> text{};
  const auto room = static_cast<unsigned>(text.size());
  return std::forward<Ask>(question)(text.data(), room) == NVML_SUCCESS ? text.data()
                                                                        : std::string();
}

// The functions, and the names of those that are needed and missing.
std::vector<std::string_view> resolve_all(void* library, NvmlApi& api) {
  std::vector<std::string_view> missing;
#define MYNAH_RESOLVE(name, needed, parameters)                             \
  api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, #name)); \
  if ((needed) && api.name == nullptr) {                                    \
    missing.emplace_back(#name);                                            \
  }
  MYNAH_NVML_FUNCTIONS(MYNAH_RESOLVE)
#undef MYNAH_RESOLVE
  return missing;
}

// The first place that has the library. The error names all that was tried.
Result<NvmlApi> load(const NvmlSearch& search) {
  const std::vector<std::string> places =
      search.file.empty() ? search.places : std::vector{search.file};
  std::vector<std::string> refused;
  for (const std::string& place : places) {
    auto opened = open_library(place);
    if (!opened) {
      continue;
    }
    if (!*opened) {
      refused.push_back(std::move(*opened).error());
      continue;
    }
    Library library = **std::move(opened);
    NvmlApi api;
    const std::vector<std::string_view> missing = resolve_all(library.get(), api);
    if (missing.empty()) {
      static_cast<void>(library.release());  // it may have threads and exit handlers
      return api;
    }
    refused.push_back(
        fmt::format("{} is no NVML: it lacks {}", library_file(library.get()), missing.front()));
  }
  constexpr std::string_view kPackage =
      "it comes with NVIDIA's driver (Debian: libnvidia-ml1; in a container "
      "NVIDIA_DRIVER_CAPABILITIES needs `utility`)";
  return fail(ErrorCode::Environment,
              refused.empty()
                  ? fmt::format("there is no {}; {}",
                                search.file.empty() ? "libnvidia-ml.so.1" : search.file, kPackage)
                  : fmt::format("{}; {}", fmt::join(refused, "; "), kPackage));
}

std::optional<NvmlMemory> ask_memory(const NvmlApi& api, NvmlHandle* device) {
  NvmlMemoryInfo info{};
  if (ask(api.nvmlDeviceGetMemoryInfo, device, &info) != NVML_SUCCESS) {
    return std::nullopt;
  }
  return NvmlMemory{.total = info.total, .free = info.free, .used = info.used};
}

std::string ask_uuid(const NvmlApi& api, NvmlHandle* device) {
  return ask_text(
      [&](char* text, unsigned room) { return ask(api.nvmlDeviceGetUUID, device, text, room); });
}

// "0000:01:00.0", as the system and the driver write it.
std::string ask_address(const NvmlApi& api, NvmlHandle* device) {
  NvmlPciInfo info{};
  if (ask(api.nvmlDeviceGetPciInfo_v3, device, &info) != NVML_SUCCESS) {
    return {};
  }
  return fmt::format("{:04x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device);
}

template <class Info>
std::vector<NvmlProcess> ask_processes(NvmlResult (*function)(NvmlHandle*, unsigned*, Info*),
                                       NvmlHandle* device) {
  // Processes come and go between two calls: room for some more than were counted, and another try.
  constexpr unsigned kMore = 16;
  constexpr unsigned kMost = 1U << 16;
  constexpr int kTries = 3;
  std::vector<Info> found;
  for (int i = 0; i < kTries; ++i) {
    auto count = static_cast<unsigned>(found.size());
    const NvmlResult result = ask(function, device, &count, found.data());
    if (result == NVML_SUCCESS && count <= found.size()) {
      std::vector<NvmlProcess> processes;
      for (const Info& info : std::span(found).first(count)) {
        NvmlProcess process{.pid = static_cast<int>(info.pid), .bytes = {}};
        if (info.usedGpuMemory != kNvmlNotAvailable) {
          process.bytes = info.usedGpuMemory;
        }
        processes.push_back(process);
      }
      return processes;
    }
    if (result != NVML_ERROR_INSUFFICIENT_SIZE || count > kMost) {
      break;
    }
    found.resize(count + kMore);
  }
  return {};
}

void ask_slices(const NvmlApi& api, NvmlHandle* device, NvmlCard& card) {
  constexpr unsigned kOn = 1;  // NVML_DEVICE_MIG_ENABLE
  constexpr unsigned kMost = 64;
  unsigned current = 0;
  unsigned pending = 0;
  if (ask(api.nvmlDeviceGetMigMode, device, &current, &pending) != NVML_SUCCESS) {
    return;
  }
  card.divided = current == kOn;
  unsigned count = 0;
  if (!*card.divided || ask(api.nvmlDeviceGetMaxMigDeviceCount, device, &count) != NVML_SUCCESS) {
    return;
  }
  for (unsigned i = 0; i < std::min(count, kMost); ++i) {
    NvmlHandle* slice = nullptr;
    if (ask(api.nvmlDeviceGetMigDeviceHandleByIndex, device, i, &slice) == NVML_SUCCESS) {
      card.slices.push_back({.uuid = ask_uuid(api, slice), .memory = ask_memory(api, slice)});
    }
  }
}

NvmlCard describe(const NvmlApi& api, NvmlHandle* device, std::string address) {
  NvmlCard card;
  card.pci_bus_id = std::move(address);
  NvmlMemoryInfo info{};
  const NvmlResult answer = ask(api.nvmlDeviceGetMemoryInfo, device, &info);
  if (is_failure_of_card(answer)) {
    card.failure = answer;
    return card;
  }
  if (answer == NVML_SUCCESS) {
    card.memory = NvmlMemory{.total = info.total, .free = info.free, .used = info.used};
  }
  card.uuid = ask_uuid(api, device);
  card.name = ask_text(
      [&](char* text, unsigned room) { return ask(api.nvmlDeviceGetName, device, text, room); });
  int major = 0;
  int minor = 0;
  if (ask(api.nvmlDeviceGetCudaComputeCapability, device, &major, &minor) == NVML_SUCCESS) {
    card.compute_major = major;
    card.compute_minor = minor;
  }
  CUcomputemode mode = CU_COMPUTEMODE_DEFAULT;
  if (ask(api.nvmlDeviceGetComputeMode, device, &mode) == NVML_SUCCESS) {
    card.compute_mode = mode;
  }
  ask_slices(api, device, card);
  card.processes = api.nvmlDeviceGetComputeRunningProcesses_v2 != nullptr
                       ? ask_processes(api.nvmlDeviceGetComputeRunningProcesses_v2, device)
                       : ask_processes(api.nvmlDeviceGetComputeRunningProcesses, device);
  return card;
}

}  // namespace

Result<std::unique_ptr<Nvml>> Nvml::open(const NvmlSearch& search) {
  MYNAH_TRY(const NvmlApi api, load(search));
  if (const NvmlResult result = api.nvmlInit_v2(); result != NVML_SUCCESS) {
    return std::unexpected(explain_nvml(result, "starting NVML").error());
  }
  return std::unique_ptr<Nvml>(new Nvml(api));
}

Nvml::~Nvml() {
  api_.nvmlShutdown();
}

Result<NvmlFacts> Nvml::read(std::span<const std::string> addresses) const {
  NvmlFacts facts;
  facts.driver_release = ask_text(
      [&](char* text, unsigned room) { return ask(api_.nvmlSystemGetDriverVersion, text, room); });
  int version = 0;
  if (ask(api_.nvmlSystemGetCudaDriverVersion_v2, &version) == NVML_SUCCESS ||
      ask(api_.nvmlSystemGetCudaDriverVersion, &version) == NVML_SUCCESS) {
    facts.cuda_version = version;
  }
  const auto add = [&](NvmlResult result, NvmlHandle* device, std::string address) {
    if (result == NVML_SUCCESS) {
      facts.cards.push_back(
          describe(api_, device, address.empty() ? ask_address(api_, device) : std::move(address)));
    } else if (result != NVML_ERROR_NOT_FOUND) {
      NvmlCard card;
      card.pci_bus_id = std::move(address);
      card.failure = result;
      facts.cards.push_back(std::move(card));
    }
  };
  if (!addresses.empty() && api_.nvmlDeviceGetHandleByPciBusId_v2 != nullptr) {
    for (const std::string& address : addresses) {
      NvmlHandle* device = nullptr;
      const NvmlResult result = api_.nvmlDeviceGetHandleByPciBusId_v2(address.c_str(), &device);
      add(result, device, ascii_lower(address));
    }
    return facts;
  }
  unsigned count = 0;
  if (const NvmlResult result = api_.nvmlDeviceGetCount_v2(&count); result != NVML_SUCCESS) {
    return std::unexpected(explain_nvml(result, "asking NVML for the cards").error());
  }
  constexpr unsigned kMost = 1024;
  for (unsigned i = 0; i < std::min(count, kMost); ++i) {
    NvmlHandle* device = nullptr;
    const NvmlResult result = api_.nvmlDeviceGetHandleByIndex_v2(i, &device);
    add(result, device, {});
  }
  return facts;
}

}  // namespace mynah::gpu
