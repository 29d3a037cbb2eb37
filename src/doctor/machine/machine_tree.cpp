#include "doctor/machine/machine_tree.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "doctor/binaries/loader_paths.h"

namespace mynah::doctor {
namespace {

namespace fs = std::filesystem;

// An open regular file and its size, 0 for those that the kernel makes up. Opened without waiting:
// a pipe in its place would wait for a writer.
UniqueFd open_regular(const std::string& path, size_t& size) {
  UniqueFd file(path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return UniqueFd(-1);
  }
  size = static_cast<size_t>(info.st_size);
  return file;
}

std::string read_up_to(int file, size_t most) {
  constexpr size_t kStep = size_t{64} << 10;
  std::string text;
  while (text.size() < most) {
    const size_t before = text.size();
    const size_t wanted = std::min(kStep, most - before);
    text.resize(before + wanted);
    const ssize_t got = ::read(file, text.data() + before, wanted);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) {
      break;
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> MachineTree::real(std::string_view path) const {
  return path.starts_with('/') ? real_path(root_, path) : std::nullopt;
}

std::string MachineTree::outside(std::string_view path) const {
  const auto found = real(path);
  return found ? root_ + *found : std::string();
}

std::string MachineTree::text(std::string_view path, size_t most) const {
  size_t size = 0;
  const UniqueFd file = open_regular(outside(path), size);
  return file.get() < 0 ? std::string() : read_up_to(file.get(), most);
}

std::string MachineTree::last_text(std::string_view path, size_t most) const {
  size_t size = 0;
  const UniqueFd file = open_regular(outside(path), size);
  if (file.get() < 0) {
    return {};
  }
  if (size > most && ::lseek(file.get(), static_cast<off_t>(size - most), SEEK_SET) < 0) {
    return {};
  }
  return read_up_to(file.get(), most);
}

std::vector<std::string> MachineTree::names(std::string_view folder) const {
  std::vector<std::string> names;
  const std::string path = outside(folder);
  if (path.empty()) {
    return names;
  }
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end;
       !error && entry != end && names.size() < kMostNames; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) {
    return false;
  }
  const size_t end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

}  // namespace mynah::doctor
