#include "base/shared_library.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace mynah {
namespace {

namespace fs = std::filesystem;

// The answer for a file that is there but cannot be opened: dlerror's text, without the path that
// it begins with.
std::string loader_reason(std::string_view place) {
  const char* text = ::dlerror();
  std::string reason = text == nullptr ? "unknown reason" : text;
  const std::string prefix = std::string(place) + ": ";
  return reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason;
}

}  // namespace

void CloseLibrary::operator()(void* handle) const {
  ::dlclose(handle);
}

std::optional<std::expected<Library, std::string>> open_library(const std::string& place) {
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
  return library;
}

std::string library_file(void* library) {
  const link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) {
    return {};
  }
  std::error_code ignored;
  const fs::path resolved = fs::canonical(map->l_name, ignored);
  return resolved.empty() ? std::string(map->l_name) : resolved.string();
}

}  // namespace mynah
