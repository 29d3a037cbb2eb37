// A library that is opened at run time, since the program is to start without it.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>

namespace mynah {

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
[[nodiscard]] std::string library_file(void* library);

}  // namespace mynah
