#include "doctor/python/python_wheel.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's

#include "formats/zip.h"

namespace mynah::doctor {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{8} << 30;
constexpr uint64_t kMostPythonBytes = 1 << 20;
constexpr size_t kMostMembers = 20'000;

bool is_library(std::string_view name) {
  return name.ends_with(".so") || name.ends_with(".dll") || name.ends_with(".pyd") ||
         name.find(".so.") != std::string_view::npos;
}

bool is_wanted(const ZipMember& member) {
  const std::string_view name = member.name;
  return name.find(".dist-info/") != std::string_view::npos || is_library(name) ||
         (name.ends_with(".py") && member.bytes <= kMostPythonBytes &&
          (name.ends_with("/__init__.py") || name.find("version") != std::string_view::npos ||
           name.ends_with("_info.py") || name.ends_with("_ld_preload.py")));
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make(const std::string& parent) {
  std::string path = parent + "/mynah-doctor-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::Io,
                fmt::format("cannot make a folder in {}: {}", parent, std::strerror(errno)));
  }
  return ScratchFolder(std::move(path));
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchFolder::~ScratchFolder() {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
}

Status unpack_wheel(const std::string& wheel, const std::string& folder) {
  MYNAH_TRY(auto file, MappedFile::open(wheel));
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(std::move(file)));
  std::vector<const ZipMember*> wanted;
  uint64_t bytes = 0;
  bool is_wheel = false;
  for (const ZipMember& member : archive.members()) {
    is_wheel |= member.name.ends_with(".dist-info/METADATA");
    if (!member.name.ends_with('/') && is_wanted(member)) {
      wanted.push_back(&member);
      bytes += std::min(member.bytes, kMostBytes);
    }
  }
  if (!is_wheel) {
    return fail(ErrorCode::InvalidInput, wheel + ": no wheel: it has no *.dist-info/METADATA");
  }
  std::error_code error;
  const uint64_t room = fs::space(folder, error).available / 2;
  if (error || bytes > std::min(kMostBytes, room) || wanted.size() > kMostMembers) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: its {} libraries and metadata are {} MiB unpacked, and {} has {} "
                            "MiB for them",
                            wheel, wanted.size(), bytes >> 20U, folder, room >> 20U));
  }
  for (const ZipMember* const member : wanted) {
    const fs::path path = fs::path(folder) / member->name;
    fs::create_directories(path.parent_path(), error);
    MYNAH_TRY_STATUS(archive.extract(*member, path.string()));
  }
  return {};
}

}  // namespace mynah::doctor
