#include "doctor/binaries/opened_names.h"

#include <algorithm>
#include <string_view>

namespace mynah::doctor {
namespace {

constexpr size_t kMostBytes = 64 << 20;
constexpr size_t kMostNames = 256;
constexpr size_t kLongestName = 128;
constexpr std::string_view kBegin = "lib";
constexpr std::string_view kEnding = ".so";
constexpr std::string_view kWindowsEnding = ".dll";

// auditwheel puts the first 8 digits of a SHA-256 behind the name, delvewheel 32.
constexpr size_t kLeastHashDigits = 8;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '+' || c == '.';
}

bool is_version(std::string_view text) {
  return text.find_first_not_of(".0123456789") == std::string_view::npos &&
         (text.empty() || (text.front() == '.' && text.back() != '.'));
}

// The whole text, between two zero bytes, that has `.so` at `at`; empty where it is no name.
std::string_view name_around(std::string_view data, size_t at) {
  size_t begin = at;
  while (begin > 0 && at - begin < kLongestName && is_name_character(data[begin - 1])) {
    --begin;
  }
  size_t end = at + kEnding.size();
  while (end < data.size() && end - at < kLongestName && is_name_character(data[end])) {
    ++end;
  }
  const bool whole =
      (begin == 0 || data[begin - 1] == '\0') && end < data.size() && data[end] == '\0';
  const std::string_view name = data.substr(begin, end - begin);
  if (!whole || !name.starts_with(kBegin) || at - begin <= kBegin.size() ||
      !is_version(name.substr(at - begin + kEnding.size()))) {
    return {};
  }
  return name;
}

}  // namespace

std::vector<std::string> library_names_in(const ElfFile& elf) {
  std::vector<std::string> names;
  size_t left = kMostBytes;
  for (const ElfSection& section : elf.sections) {
    if (section.name != ".rodata" && !section.name.starts_with(".rodata.")) {
      continue;
    }
    const size_t size = std::min(left, section.bytes.size());
    left -= size;
    const std::string_view data(reinterpret_cast<const char*>(section.bytes.data()), size);
    for (size_t at = data.find(kEnding); at != std::string_view::npos;
         at = data.find(kEnding, at + kEnding.size())) {
      const std::string_view name = name_around(data, at);
      if (!name.empty() && std::ranges::find(names, name) == names.end()) {
        names.emplace_back(name);
        if (names.size() == kMostNames) {
          return names;
        }
      }
    }
  }
  return names;
}

std::optional<std::string> name_before_bundling(std::string_view library) {
  const size_t ending = std::min(library.find(kEnding), library.rfind(kWindowsEnding));
  const std::string_view stem = library.substr(0, ending);
  const size_t dash = stem.rfind('-');
  if (ending == std::string_view::npos || dash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view hash = stem.substr(dash + 1);
  if (hash.size() < kLeastHashDigits ||
      hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(stem.substr(0, dash)) + std::string(library.substr(ending));
}

}  // namespace mynah::doctor
