#include "cli/files/output_records.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/unique_fd.h"

namespace mynah::cli {

namespace fs = std::filesystem;

namespace {

// Some hundreds of lines: a file this short is read in no time, whatever is in it.
constexpr uint64_t kShort = 64 << 10;

// The file that has this name now, to be added to by this process alone until it is closed; none:
// it cannot be had.
UniqueFd open_locked(const std::string& path) {
  while (true) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
    if (!fd) {
      return fd;
    }
    int locked = -1;
    do {
      locked = ::flock(fd.get(), LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    struct stat held{};
    if (locked != 0 || ::fstat(fd.get(), &held) != 0) {
      return {};
    }
    struct stat named{};
    if (::stat(path.c_str(), &named) == 0 && named.st_dev == held.st_dev &&
        named.st_ino == held.st_ino) {
      return fd;
    }
    // Another process wrote it anew while this one waited: what is held has no name any more.
  }
}

// Appends a line, or nothing; returns the file's size.
uint64_t append(int fd, std::string line) {
  struct stat status{};
  char last = '\n';
  if (::fstat(fd, &status) != 0) {
    return 0;
  }
  if (status.st_size > 0 && ::pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n') {
    line.insert(0, "\n");  // a line that a power cut left unfinished takes no other with it
  }
  const ssize_t written = ::write(fd, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) {
    return static_cast<uint64_t>(status.st_size + written);
  }
  // The disk is full.
  [[maybe_unused]] const int cut = ::ftruncate(fd, status.st_size);
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace

std::string OutputRecords::line_of(const std::string& output, const Origin& origin) {
  nlohmann::ordered_json entry = {{"output", output}, {"recording", origin.recording}};
  if (origin.empty) {
    entry["empty"] = true;
  }
  if (origin.options) {
    entry["options"] = *origin.options;
  }
  return entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

OutputRecords::Origins OutputRecords::read(const std::string& path) {
  Origins origins;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (entry.is_object() && entry.contains("output") && entry["output"].is_string() &&
        entry.contains("recording") && entry["recording"].is_string()) {
      Origin& origin = origins[entry["output"]];
      origin = {.recording = entry["recording"],
                .empty = entry.contains("empty") && entry["empty"] == true};
      if (entry.contains("options") && entry["options"].is_string()) {
        origin.options = entry["options"];
      }
    }
  }
  return origins;
}

void OutputRecords::shorten(const std::string& path, uint64_t size) {
  std::string kept;
  for (const auto& [output, origin] : read(path)) {
    // What cannot be looked at now, on a disk that is away for a while, may be there again.
    std::error_code error;
    if (fs::status(output, error).type() != fs::file_type::not_found) {
      kept += line_of(output, origin);
    }
  }
  if (size <= 2 * kept.size()) {
    return;
  }
  auto file = AtomicFile::create(identity(path));  // where it is a link, what it leads to
  if (file && file->write(kept)) {
    [[maybe_unused]] const Status status = file->commit();  // else the long one is there still
  }
}

const OutputRecords::Origin* OutputRecords::origin_of(const std::string& output) const {
  if (!known_) {
    known_ = read(path_);
  }
  const auto found = known_->find(identity(output));
  std::error_code error;
  if (found == known_->end() || !fs::exists(found->first, error)) {
    return nullptr;
  }
  return &found->second;
}

bool OutputRecords::is_of_another(const std::string& output, const std::string& recording) const {
  const Origin* origin = origin_of(output);
  return origin != nullptr && origin->recording != identity(recording);
}

bool OutputRecords::was_empty(const std::string& output, const std::string& recording) const {
  const Origin* origin = origin_of(output);
  return origin != nullptr && origin->empty && origin->recording == identity(recording);
}

bool OutputRecords::is_made_otherwise(const std::string& output, const std::string& options) const {
  const Origin* origin = origin_of(output);
  return origin != nullptr && origin->options && *origin->options != options;
}

void OutputRecords::add(const std::string& output, const std::string& recording,
                        const std::string& options) {
  if (path_.empty()) {
    return;
  }
  const std::string file = identity(output);
  std::error_code none;
  const Origin origin = {.recording = identity(recording),
                         .empty = fs::file_size(file, none) == 0,
                         .options = options};
  if (known_) {
    (*known_)[file] = origin;
  }
  fs::create_directories(fs::path(path_).parent_path(), none);
  const UniqueFd fd = open_locked(path_);
  if (!fd) {
    return;
  }
  // Even where it seems to be there: another process may just have left it out, as the output was
  // gone.
  const uint64_t size = append(fd.get(), line_of(file, origin));
  if (size > kShort && !std::exchange(looked_at_size_, true)) {
    shorten(path_, size);
  }
}

std::string OutputRecords::identity(const std::string& file) {
  if (file == "-") {
    return file;
  }
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? file : path.string();
}

}  // namespace mynah::cli
