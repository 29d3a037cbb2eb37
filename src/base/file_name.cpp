#include "base/file_name.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

namespace mynah {

namespace fs = std::filesystem;

namespace {

// FNV-1a of 32 bits (draft-eastlake-fnv).
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

// Whether a UTF-8 letter goes on with this byte.
bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

size_t longest_name(const std::string& folder) {
  constexpr size_t kUsual = 255;
  fs::path path = folder.empty() ? "." : folder;
  while (true) {
    const long most = ::pathconf(path.c_str(), _PC_NAME_MAX);
    if (most > 0) {
      return static_cast<size_t>(most);
    }
    if (!path.has_parent_path() || path.parent_path() == path) {
      return kUsual;
    }
    path = path.parent_path();
  }
}

std::string_view cut_between_letters(std::string_view text, size_t most) {
  if (text.size() <= most) {
    return text;
  }
  while (most > 0 && is_continuation(text[most])) {
    --most;
  }
  return text.substr(0, most);
}

std::string fitting_name(std::string_view stem, std::string_view ending, size_t most) {
  if (stem.size() + ending.size() <= most) {
    return std::string(stem).append(ending);
  }
  char mark[10];
  std::snprintf(mark, sizeof mark, "~%08x", static_cast<unsigned>(hash_of(stem)));
  const size_t taken = ending.size() + sizeof mark - 1;
  return std::string(cut_between_letters(stem, most > taken ? most - taken : 0))
      .append(mark)
      .append(ending);
}

std::string with_ending(const std::string& path, std::string_view ending) {
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, begin) + fitting_name(std::string_view(path).substr(begin), ending,
                                              longest_name(path.substr(0, begin)));
}

}  // namespace mynah
