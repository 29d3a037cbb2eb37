#include "base/atomic_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file_name.h"

namespace mynah {
namespace {

constexpr int kNameAttempts = 1000;

std::unexpected<Error> fail_errno(const std::string& what, int error) {
  return fail(error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
              what + ": " + std::strerror(error));
}

// Named by what the caller asked for: nobody knows the temporary name, and it is the folder that
// does not take it.
std::unexpected<Error> cannot_create(const std::string& path, int error) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return fail_errno(
      "cannot create " + path + " in the folder " + (folder.empty() ? "." : folder.string()),
      error);
}

// Where a link leads, even to nothing as yet.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, error); ++i) {
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  }
  return target.string();
}

// A rename would take the place of anything but a folder, whatever its rights are.
Status check_replaceable(const std::string& path) {
  std::error_code error;
  if (is_device_or_pipe(path)) {
    return fail(ErrorCode::InvalidInput, path + " is a device or a pipe; wanted a file's name");
  }
  if (std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::Io, path + " is a folder; wanted a file's name");
  }
  if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0) {
    return fail_errno("may not write to " + path, errno);
  }
  return {};
}

// A rename is durable once the folder that holds the name is.
Status sync_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  const int fd = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return fail_errno("cannot open folder " + name, errno);
  }
  const bool synced = ::fsync(fd) == 0 || errno == EINVAL;  // some file systems have no folder sync
  const int error = errno;
  ::close(fd);
  if (!synced) {
    return fail_errno("cannot sync folder " + name, error);
  }
  return {};
}

}  // namespace

AtomicFile::AtomicFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

Result<AtomicFile> AtomicFile::create(const std::string& name) {
  const std::string path = behind_links(name);
  MYNAH_TRY_STATUS(check_replaceable(path));
  // Told before the work: the temporary name fits whatever the name is.
  const std::filesystem::path wanted(path);
  if (wanted.filename().native().size() > longest_name(wanted.parent_path())) {
    return cannot_create(path, ENAMETOOLONG);
  }
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    std::string temporary = with_ending(
        path, "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".partial");
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      return AtomicFile(fd, path, std::move(temporary));
    }
    if (errno != EEXIST) {
      return cannot_create(path, errno);
    }
  }
  return fail(ErrorCode::Io, "cannot create " + path + ": every temporary name is taken");
}

Result<AtomicFile> AtomicFile::create_private(const std::string& path) {
  MYNAH_TRY(AtomicFile file, create(path));
  if (::fchmod(file.fd_, 0600) != 0) {
    return file.fail_io("cannot keep from others");
  }
  return file;
}

std::unexpected<Error> AtomicFile::fail_io(std::string_view what) const {
  return fail(ErrorCode::Io, std::string(what) + " " + path_ + ": " + std::strerror(errno));
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  MYNAH_CHECK(fd_ >= 0, "written after commit");
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return fail_io("cannot write");
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
    size_ += static_cast<uint64_t>(written);
  }
  return {};
}

Status AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

Status AtomicFile::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  MYNAH_CHECK(fd_ >= 0 && offset + bytes.size() <= size_, "overwrites what was written");
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return fail_io("cannot write");
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Status AtomicFile::pad_to(uint64_t multiple) {
  static constexpr std::array<std::byte, 256> kZeros{};
  uint64_t missing = (multiple - size_ % multiple) % multiple;
  while (missing > 0) {
    const uint64_t part = std::min<uint64_t>(missing, kZeros.size());
    MYNAH_TRY_STATUS(write(std::span(kZeros).first(part)));
    missing -= part;
  }
  return {};
}

Status AtomicFile::commit_as(const std::string& path) {
  path_ = path;
  return commit();
}

Status AtomicFile::commit() {
  MYNAH_CHECK(fd_ >= 0, "committed twice");
  if (::fsync(fd_) != 0) {
    return fail_io("cannot sync");
  }
  // close() may report a write that failed late (NFS); the descriptor is gone either way.
  const bool closed = ::close(std::exchange(fd_, -1)) == 0;
  if (!closed || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const auto error = fail_io(closed ? "cannot rename to" : "cannot close");
    ::unlink(temporary_.c_str());
    return error;
  }
  return sync_folder(std::filesystem::path(path_).parent_path());
}

bool is_device_or_pipe(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_other(std::filesystem::status(path, error));
}

}  // namespace mynah
