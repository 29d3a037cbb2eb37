#include "store/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace mynah {
namespace {

namespace fs = std::filesystem;

// Left free on a disk, so that a download never fills it to the last byte.
constexpr uint64_t kDiskReserveBytes = 64ULL << 20U;

std::string system_message() {
  return std::strerror(errno);
}

Status write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path, system_message()));
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// The nearest folder above a path that exists.
fs::path existing_ancestor(fs::path path) {
  std::error_code ignored;
  path = fs::absolute(path, ignored);
  while (!fs::exists(path, ignored) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return path;
}

}  // namespace

Status make_folders(const std::string& path) {
  if (path.empty()) {
    return {};  // of a name without a folder: that is the one we are in
  }
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot make the folder {}: {}", path, error.message()));
  }
  return {};
}

Status make_private_folder(const std::string& path) {
  Status made = make_folders(path);
  if (made && ::chmod(path.c_str(), 0700) != 0) {
    made = fail(ErrorCode::Io, path + " belongs to somebody else");
  }
  if (made && ::access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    made = fail(ErrorCode::Io, path + " may not be written to");
  }
  if (!made) {
    return fail(ErrorCode::Environment, made.error().message);
  }
  return {};
}

Result<std::string> read_text_file(const std::string& path, uint64_t limit_bytes) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                       &std::fclose);
  if (file == nullptr) {
    const auto code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return fail(code, fmt::format("cannot open {}: {}", path, system_message()));
  }
  std::string text;
  char piece[16384];
  for (size_t count = sizeof(piece); count == sizeof(piece);) {  // less: the end, or an error
    count = std::fread(piece, 1, sizeof(piece), file.get());
    text.append(piece, count);
    if (text.size() > limit_bytes) {
      return fail(ErrorCode::InvalidInput, fmt::format("{} is larger than the {} it may be", path,
                                                       human_bytes(limit_bytes)));
    }
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", path, system_message()));
  }
  return text;
}

Status write_text_file(const std::string& path, std::string_view text) {
  const std::string temporary = temporary_name(path);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path, system_message()));
  }
  Status written = write_all(descriptor, text, path);
  ::close(descriptor);
  if (written) {
    written = sync_and_rename(temporary, path);
  }
  if (!written) {
    ::unlink(temporary.c_str());
  }
  return written;
}

Status sync_and_rename(const std::string& from, const std::string& to) {
  const int descriptor = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fdatasync(descriptor) == 0;
  const int sync_error = errno;
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  if (!synced) {
    return fail(ErrorCode::Io,
                fmt::format("cannot write {} to the disk: {}", to, std::strerror(sync_error)));
  }
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return fail(ErrorCode::Io,
                fmt::format("cannot rename {} to {}: {}", from, to, system_message()));
  }
  return {};
}

std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{}-{:08x}.tmp", path, ::getpid(), random());
}

Result<uint64_t> free_disk_bytes(const std::string& path) {
  const fs::path folder = existing_ancestor(path);
  struct statvfs info{};
  if (::statvfs(folder.c_str(), &info) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot ask for the free space of {}: {}",
                                           folder.string(), system_message()));
  }
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

Status check_disk_space(const std::string& path, uint64_t wanted) {
  MYNAH_TRY(const uint64_t free, free_disk_bytes(path));
  if (free < kDiskReserveBytes || free - kDiskReserveBytes < wanted) {
    return fail(
        ErrorCode::Io,
        fmt::format("not enough space at {}: {} wanted (and {} left over), {} free; make "
                    "room or set MYNAH_HOME to a larger disk",
                    path, human_bytes(wanted), human_bytes(kDiskReserveBytes), human_bytes(free)));
  }
  return {};
}

uint64_t bytes_on_disk(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;
  }
  uint64_t total = 0;
  for (auto item = fs::recursive_directory_iterator(path, error);
       !error && item != fs::recursive_directory_iterator(); item.increment(error)) {
    std::error_code ignored;
    if (item->is_regular_file(ignored)) {
      const auto size = item->file_size(ignored);
      total += ignored ? 0 : size;
    }
  }
  return total;
}

std::string human_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Result<FileLock> FileLock::take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return fail(ErrorCode::Io, fmt::format("cannot open the lock {}: {}", path, system_message()));
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const bool held = errno == EWOULDBLOCK;
    const std::string message = system_message();
    ::close(descriptor);
    return held ? fail(ErrorCode::Busy,
                       fmt::format("another mynah is at work on this model (it holds {}); wait for "
                                   "it to end, then try again",
                                   path))
                : fail(ErrorCode::Io, fmt::format("cannot lock {}: {}", path, message));
  }
  return FileLock(descriptor);
}

Result<FileLock> FileLock::wait_for(const std::string& path) {
  FileLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  while (lock.descriptor_ < 0 || ::flock(lock.descriptor_, LOCK_EX) != 0) {
    if (lock.descriptor_ < 0 || errno != EINTR) {
      return fail(ErrorCode::Environment,
                  fmt::format("cannot lock {}: {}", path, system_message()));
    }
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace mynah
