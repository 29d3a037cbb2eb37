// A library of NVIDIA's driver, looked for where systems keep it and opened at run time.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::gpu {

// Where a library of the driver ("libcuda.so.1") is looked for, in this order: the name alone,
// which the system's loader resolves (LD_LIBRARY_PATH, ld.so.cache), then the folders where
// distributions, WSL2 and containers keep it without telling the loader.
[[nodiscard]] std::vector<std::string> usual_places(std::string_view library);

// Closes a library that nobody keeps.
struct CloseLibrary {
  void operator()(void* handle) const;
};

using Library = std::unique_ptr<void, CloseLibrary>;

// Opens a path, or a name that is left to the system's loader. None: there is no such file. Else
// the library, or a clause that says why it cannot be loaded.
[[nodiscard]] std::optional<std::expected<Library, std::string>> open_library(
    const std::string& place);

// The file behind an open library, links resolved; empty where the loader does not tell.
[[nodiscard]] std::string file_of(void* library);

}  // namespace mynah::gpu
