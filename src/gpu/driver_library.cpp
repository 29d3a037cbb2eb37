#include "gpu/driver_library.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shared_library.h"
#include "gpu/driver_errors.h"
#include "gpu/ptx.h"

namespace mynah::gpu {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

// One place that is tried. A friend of Driver, whose constructor nobody else may call.
struct DriverFile {
  // None: no such file. Else the driver, or why it is refused.
  using Outcome = std::optional<std::expected<std::shared_ptr<const Driver>, std::string>>;

  static Outcome open(const std::string& place);
};

DriverFile::Outcome DriverFile::open(const std::string& place) {
  auto opened = open_library(place);
  if (!opened) {
    return std::nullopt;
  }
  if (!*opened) {
    return std::unexpected(std::move(*opened).error());
  }
  Library library = **std::move(opened);
  const std::string path = library_file(library.get());
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
