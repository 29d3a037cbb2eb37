#include "gpu/driver_library.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include "gpu/driver_errors.h"
#include "gpu/ptx.h"

namespace mynah::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kUsualPlaces = {
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",                          // WSL2
    "/usr/lib64/nvidia/libcuda.so.1",                         // Fedora, RHEL
    "/usr/lib64/libcuda.so.1",                                // openSUSE
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",                 // Debian, Ubuntu
    "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1",  // Debian's alternatives
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",                // Debian, Ubuntu on ARM
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",         // Jetson
    "/usr/local/nvidia/lib64/libcuda.so.1",                   // containers, Kubernetes
    "/run/opengl-driver/lib/libcuda.so.1",                    // NixOS
};

// A library that is closed again unless it is kept.
struct CloseLibrary {
  void operator()(void* handle) const { ::dlclose(handle); }
};

using Library = std::unique_ptr<void, CloseLibrary>;

// The file behind an open library, links resolved.
std::string file_of(void* handle) {
  const link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) {
    return {};
  }
  std::error_code ignored;
  const fs::path resolved = fs::canonical(map->l_name, ignored);
  return resolved.empty() ? std::string(map->l_name) : resolved.string();
}

// NVIDIA's toolkit keeps its stub in a folder of this name.
bool in_stubs_folder(const std::string& path) {
  for (const fs::path& part : fs::path(path)) {
    if (part == "stubs") {
      return true;
    }
  }
  return false;
}

std::string stub_message(const std::string& path) {
  return fmt::format("{} is a CUDA toolkit's stub for linking, not a driver", path);
}

template <class Function>
void resolve(void* handle, const char* symbol, int since, Function& function,
             std::vector<std::string_view>& missing) {
  function = reinterpret_cast<Function>(::dlsym(handle, symbol));
  if (function == nullptr && since <= kOldestDriver) {
    missing.emplace_back(symbol);
  }
}

// Every function, and the names of those that a usable driver must have and this one lacks.
std::vector<std::string_view> resolve_all(void* handle, DriverApi& api) {
  std::vector<std::string_view> missing;
#define MYNAH_RESOLVE(name, symbol, since, parameters) \
  resolve(handle, #symbol, since, api.name, missing);
  MYNAH_DRIVER_FUNCTIONS(MYNAH_RESOLVE)
#undef MYNAH_RESOLVE
  return missing;
}

// The answer for a file that is there but cannot be opened: dlerror's text, without the path that
// it begins with.
std::string loader_reason(std::string_view place) {
  const char* text = ::dlerror();
  std::string reason = text == nullptr ? "unknown reason" : text;
  const std::string prefix = std::string(place) + ": ";
  return reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason;
}

}  // namespace

// One place that is tried. A friend of Driver, whose constructor nobody else may call.
struct DriverFile {
  // None: no such file. Else the driver, or why it is refused.
  using Outcome = std::optional<std::expected<std::shared_ptr<const Driver>, std::string>>;

  static Outcome open(const std::string& place);
};

DriverFile::Outcome DriverFile::open(const std::string& place) {
  const bool is_path = place.find('/') != std::string::npos;
  if (is_path && !fs::exists(place)) {
    return std::nullopt;
  }
  ::dlerror();
  Library library(::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    std::string reason = loader_reason(place);
    if (!is_path && reason.find(std::strerror(ENOENT)) != std::string::npos) {
      return std::nullopt;
    }
    return std::unexpected(fmt::format("{} cannot be loaded: {}", place, reason));
  }
  const std::string path = file_of(library.get());
  if (in_stubs_folder(path) || in_stubs_folder(place)) {
    return std::unexpected(stub_message(path));
  }
  DriverApi api;
  const std::vector<std::string_view> missing = resolve_all(library.get(), api);
  int version = 0;
  if (api.cuDriverGetVersion == nullptr) {
    return std::unexpected(fmt::format("{} is no CUDA driver: it has no cuDriverGetVersion", path));
  }
  if (const CUresult result = api.cuDriverGetVersion(&version); result != CUDA_SUCCESS) {
    return std::unexpected(
        result == CUDA_ERROR_STUB_LIBRARY
            ? stub_message(path)
            : driver_failure(result, "asking " + path + " for its version", 0).message);
  }
  if (version < kOldestDriver) {
    return std::unexpected(
        fmt::format("{} is too old: mynah {}", path, needs_driver(kOldestDriver, version)));
  }
  if (!missing.empty()) {
    constexpr size_t kNamed = 3;  // enough to look for
    const auto shown = std::span(missing).first(std::min(kNamed, missing.size()));
    return std::unexpected(fmt::format(
        "{} says that it is driver {}, but lacks {}{}", path, driver_name(version),
        fmt::join(shown, ", "),
        missing.size() > kNamed ? fmt::format(" and {} more", missing.size() - kNamed) : ""));
  }
  static_cast<void>(library.release());
  return std::shared_ptr<const Driver>(new Driver(api, version, path));
}

std::span<const std::string_view> usual_driver_places() {
  return kUsualPlaces;
}

std::expected<std::shared_ptr<const Driver>, NoDriver> Driver::open(const DriverSearch& search) {
  const auto none = [](NoDriver::Reason reason, std::string message) {
    return std::unexpected(NoDriver{
        .reason = reason,
        .error = {.code = ErrorCode::Environment, .message = std::move(message)},
    });
  };
  if (!search.file.empty()) {
    auto opened = DriverFile::open(search.file);
    if (!opened) {
      return none(NoDriver::Reason::Named,
                  fmt::format("there is no {}, which MYNAH_CUDA_DRIVER names; unset it to use the "
                              "installed driver",
                              search.file));
    }
    if (!*opened) {
      return none(NoDriver::Reason::Named,
                  fmt::format("MYNAH_CUDA_DRIVER: {}; unset it to use the installed driver",
                              opened->error()));
    }
    return **opened;
  }
  std::vector<std::string> refused;
  for (const std::string& place : search.places) {
    auto opened = DriverFile::open(place);
    if (!opened) {
      continue;
    }
    if (*opened) {
      return **opened;
    }
    // Links lead to one file from several places.
    if (std::ranges::find(refused, opened->error()) == refused.end()) {
      refused.push_back(std::move(*opened).error());
    }
  }
  if (!refused.empty()) {
    return none(
        NoDriver::Reason::Refused,
        fmt::format("no usable NVIDIA driver: {}; install or update NVIDIA's driver ({} or newer)",
                    fmt::join(refused, "; "), driver_name(kOldestDriver)));
  }
  return none(
      NoDriver::Reason::Absent,
      fmt::format("no NVIDIA driver: looked for {}; install NVIDIA's driver ({} or newer), or "
                  "name its libcuda.so.1 with MYNAH_CUDA_DRIVER",
                  fmt::join(search.places, ", "), driver_name(kOldestDriver)));
}

std::string Driver::release() const {
  constexpr std::string_view kPrefix = "libcuda.so.";
  const std::string file = fs::path(path_).filename();
  // "libcuda.so.1" names the interface; "libcuda.so.1.1" is WSL2's.
  if (!file.starts_with(kPrefix) || file.starts_with("libcuda.so.1.") || file == "libcuda.so.1") {
    return {};
  }
  return file.substr(kPrefix.size());
}

}  // namespace mynah::gpu
