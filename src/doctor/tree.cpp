#include "doctor/tree.h"

#include <algorithm>
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

std::optional<std::string> Tree::real(std::string_view path) const {
  return path.empty() || path.front() == '/' ? real_path(root_, path) : std::nullopt;
}

std::string Tree::opened_as(std::string_view path) const {
  const auto found = real(path);
  return found ? outside(*found) : std::string();
}

bool Tree::is_folder(std::string_view path) const {
  const auto at = real(path);
  return at && S_ISDIR(mode_of(outside(*at)));
}

bool Tree::is_file(std::string_view path) const {
  const auto at = real(path);
  return at && S_ISREG(mode_of(outside(*at)));
}

void Tree::skip(std::string_view path, std::string_view why) const {
  if (skipped_ == nullptr || skipped_->size() >= kMostSkipped) {
    return;
  }
  std::string line = fmt::format("{}: {}", path, why);
  if (std::ranges::find(*skipped_, line) == skipped_->end()) {
    skipped_->push_back(std::move(line));
  }
}

const std::vector<std::string>& Tree::names(std::string_view folder) const {
  const auto [slot, is_new] = names_.try_emplace(std::string(folder));
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

std::vector<std::string> Tree::matches(const std::string& folder, std::string_view pattern) const {
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

std::optional<std::string> Tree::read(std::string_view path, size_t most, bool last) const {
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
  // Files that the kernel makes up have no size.
  const auto size = static_cast<size_t>(info.st_size);
  if (last && size > most &&
      ::lseek(file.get(), info.st_size - static_cast<off_t>(most), SEEK_SET) < 0) {
    skip(path, std::strerror(errno));
    return std::nullopt;
  }
  std::string text;
  while (text.size() < most) {
    const size_t before = text.size();
    const size_t wanted = std::min(kPieceBytes, most - before);
    text.resize(before + wanted);
    const ssize_t got = ::read(file.get(), text.data() + before, wanted);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      skip(path, std::strerror(errno));
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
  }
  return text;
}

std::optional<std::string> Tree::text(std::string_view path, size_t most) const {
  return read(path, most, false);
}

std::string Tree::words(std::string_view path, size_t most) const {
  return read(path, most, false).value_or("");
}

std::string Tree::last_words(std::string_view path, size_t most) const {
  return read(path, most, true).value_or("");
}

std::shared_ptr<const MappedFile> Tree::map(const std::string& path, uint64_t most) const {
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
