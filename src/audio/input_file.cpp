#include "audio/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

namespace mynah {
namespace {

std::unexpected<Error> cannot_open(const std::string& name, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return fail(ErrorCode::NotFound, name + " does not exist: check the path");
    case EACCES:
    case EPERM:
      return fail(ErrorCode::Io, name + " may not be read by this user: check its permissions");
    default:
      return fail(ErrorCode::Io, "cannot open " + name + ": " + std::strerror(error));
  }
}

// Opening a named pipe would wait for a writer, where no stop reaches; read_some waits instead.
// Whoever reads the descriptor later, in this process or in another, finds it as usual.
UniqueFd open_path(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (fd && ::fcntl(fd.get(), F_SETFL, 0) != 0) {
    fd.reset();
  }
  return fd;
}

}  // namespace

Result<InputFile> open_input_file(const std::string& path, const std::stop_token& stop,
                                  std::string_view wanted) {
  InputFile input;
  input.stop = stop;
  input.name = path == "-" ? "standard input" : path;
  input.fd = path == "-" ? UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) : open_path(path);
  if (!input.fd) {
    return cannot_open(input.name, errno);
  }
  struct stat info{};
  if (::fstat(input.fd.get(), &info) != 0) {
    return cannot_open(input.name, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} is a folder, wanted {}: name the files in it", input.name, wanted));
  }
  input.seekable = S_ISREG(info.st_mode);
  if (input.seekable) {
    input.size_bytes = info.st_size;
    if (info.st_size == 0) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} is empty (0 bytes), wanted {}", input.name, wanted));
    }
  }
  return input;
}

Result<InputFile> duplicate(const InputFile& input) {
  InputFile copy;
  copy.fd = UniqueFd(::fcntl(input.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.fd) {
    return fail(ErrorCode::Io, "cannot read " + input.name + ": " + std::strerror(errno));
  }
  copy.name = input.name;
  copy.seekable = input.seekable;
  copy.size_bytes = input.size_bytes;
  copy.stop = input.stop;
  return copy;
}

Result<size_t> read_some(InputFile& input, std::span<std::byte> out) {
  if (!input.head.empty()) {
    const size_t count = std::min(input.head.size(), out.size());
    const auto end = input.head.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(input.head.begin(), end, out.begin());
    input.head.erase(input.head.begin(), end);
    return count;
  }
  if (!input.seekable) {
    const auto ready = wait_readable(input.fd.get(), std::nullopt, input.stop);
    if (!ready) {
      return fail(ready.error().code, input.name + ": " + ready.error().message);
    }
  }
  for (;;) {
    const ssize_t got = ::read(input.fd.get(), out.data(), out.size());
    if (got >= 0) {
      return static_cast<size_t>(got);
    }
    if (errno != EINTR) {
      return fail(ErrorCode::Io, "cannot read " + input.name + ": " + std::strerror(errno));
    }
  }
}

}  // namespace mynah
