#include "doctor/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace mynah::doctor {
namespace {

constexpr size_t kMostNames = 200'000;
constexpr size_t kMostSkipped = 200;
constexpr size_t kPieceBytes = 1 << 16;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

mode_t mode_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode : 0;
}

}  // namespace

std::string path_in(std::string_view folder, std::string_view name) {
  return std::string(folder).append(folder.ends_with('/') ? "" : "/").append(name);
}

bool Tree::is_folder(std::string_view path) const {
  const auto at = real(path);
  return at && S_ISDIR(mode_of(outside(*at)));
}

bool Tree::is_file(std::string_view path) const {
  const auto at = real(path);
  return at && S_ISREG(mode_of(outside(*at)));
}

void Tree::skip(const std::string& path, std::string_view why) {
  std::string line = fmt::format("{}: {}", path, why);
  if (skipped_.size() < kMostSkipped && std::ranges::find(skipped_, line) == skipped_.end()) {
    skipped_.push_back(std::move(line));
  }
}

const std::vector<std::string>& Tree::names(const std::string& folder) {
  const auto [slot, is_new] = names_.try_emplace(folder);
  if (!is_new) {
    return slot->second;
  }
  const auto at = real(folder);
  if (!at) {
    return slot->second;
  }
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(outside(*at).c_str()));
  if (open == nullptr) {
    if (errno != ENOENT && errno != ENOTDIR) {
      skip(folder, std::strerror(errno));
    }
    return slot->second;
  }
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") {
      continue;
    }
    if (slot->second.size() == kMostNames) {
      skip(folder, fmt::format("only the first {} names were looked at", kMostNames));
      break;
    }
    slot->second.emplace_back(name);
  }
  std::ranges::sort(slot->second);
  return slot->second;
}

std::vector<std::string> Tree::matches(const std::string& folder, std::string_view pattern) {
  std::vector<std::string> found = {folder};
  while (!pattern.empty()) {
    const size_t end = std::min(pattern.find('/'), pattern.size());
    const std::string part(pattern.substr(0, end));
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
    std::vector<std::string> next;
    for (const std::string& path : found) {
      if (part.find_first_of("*?[") == std::string::npos) {
        if (std::string inner = path_in(path, part); real(inner)) {
          next.push_back(std::move(inner));
        }
        continue;
      }
      for (const std::string& name : names(path)) {
        if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) {
          next.push_back(path_in(path, name));
        }
      }
    }
    found = std::move(next);
  }
  return found;
}

std::optional<std::string> Tree::text(const std::string& path, size_t most) {
  const auto at = real(path);
  if (!at) {
    return std::nullopt;
  }
  // O_NONBLOCK: a pipe that nobody writes to is passed by and not waited for.
  const UniqueFd file(::open(outside(*at).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    skip(path, std::strerror(errno));
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, kPieceBytes> piece;
  while (text.size() < most) {
    const ssize_t size =
        ::read(file.get(), piece.data(), std::min(piece.size(), most - text.size()));
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      skip(path, std::strerror(errno));
      return std::nullopt;
    }
    if (size == 0) {
      break;
    }
    text.append(piece.data(), static_cast<size_t>(size));
  }
  return text;
}

std::shared_ptr<const MappedFile> Tree::map(const std::string& path, uint64_t most) {
  const auto at = real(path);
  if (!at) {
    return nullptr;
  }
  auto file = MappedFile::open(outside(*at));
  if (!file) {
    skip(path, file.error().message);
    return nullptr;
  }
  if ((*file)->bytes().size() > most) {
    skip(path, fmt::format("larger than {} MiB", most >> 20U));
    return nullptr;
  }
  return *std::move(file);
}

}  // namespace mynah::doctor
