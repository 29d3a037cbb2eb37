#include "server/http/upload.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace mynah::server {
namespace {

// Eight minutes of 16 kHz and 16 bits, or a spoken note of hours as Opus.
constexpr uint64_t kMostInMemory = uint64_t{16} << 20;

std::unexpected<Error> no_room(const std::string& what) {
  return fail(ErrorCode::Io, fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<Upload> Upload::create(const std::string& folder) {
  Upload upload(folder);
  upload.fd_ = UniqueFd(::memfd_create("mynah-upload", MFD_CLOEXEC));
  if (!upload.fd_) {
    return no_room("keeping what is sent");
  }
  return upload;
}

Status Upload::append(std::string_view bytes) {
  if (!on_disk_ && size_ + bytes.size() > kMostInMemory) {
    MYNAH_TRY_STATUS(move_to_disk());
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return no_room("keeping what is sent in " + (on_disk_ ? folder_ : "memory"));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    size_ += static_cast<uint64_t>(written);
  }
  return {};
}

Status Upload::move_to_disk() {
  UniqueFd file(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    return no_room("keeping what is sent in " + folder_);
  }
  off_t at = 0;
  while (static_cast<uint64_t>(at) < size_) {
    const ssize_t copied = ::sendfile(file.get(), fd_.get(), &at,
                                      static_cast<size_t>(size_) - static_cast<size_t>(at));
    if (copied < 0 && errno == EINTR) {
      continue;
    }
    if (copied <= 0) {
      return no_room("keeping what is sent in " + folder_);
    }
  }
  fd_ = std::move(file);
  on_disk_ = true;
  return {};
}

bool Upload::starts_with(std::string_view beginning) const {
  std::string first(beginning.size(), '\0');
  return ::pread(fd_.get(), first.data(), first.size(), 0) == static_cast<ssize_t>(first.size()) &&
         first == beginning;
}

Status Upload::read(FunctionRef<void(std::string_view)> take, const std::stop_token& stop) const {
  std::string piece(size_t{256} << 10U, '\0');
  for (uint64_t at = 0; at < size_;) {
    const ssize_t got = ::pread(fd_.get(), piece.data(), piece.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return no_room("reading what was sent");
    }
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    take(std::string_view(piece).substr(0, static_cast<size_t>(got)));
    at += static_cast<uint64_t>(got);
  }
  return {};
}

Result<InputFile> Upload::open(std::string name) const {
  if (size_ == 0) {
    return fail(ErrorCode::InvalidInput, name + " is empty: wanted a recording");
  }
  // A descriptor of its own, with a place of its own in the bytes.
  UniqueFd fd(::open(fmt::format("/proc/self/fd/{}", fd_.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return no_room("reading what was sent");
  }
  InputFile input;
  input.fd = std::move(fd);
  input.name = std::move(name);
  input.seekable = true;
  input.size_bytes = static_cast<int64_t>(size_);
  return input;
}

}  // namespace mynah::server
