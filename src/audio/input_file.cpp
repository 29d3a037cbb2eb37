#include "audio/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace

Result<InputFile> open_input_file(const std::string& path) {
  InputFile input;
  input.name = path == "-" ? "standard input" : path;
  input.fd = UniqueFd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                  : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!input.fd) {
    return cannot_open(input.name, errno);
  }
  struct stat info{};
  if (::fstat(input.fd.get(), &info) != 0) {
    return cannot_open(input.name, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::InvalidInput,
                input.name + " is a folder, wanted a recording: name the files in it");
  }
  input.seekable = S_ISREG(info.st_mode);
  if (input.seekable) {
    input.size_bytes = info.st_size;
    if (info.st_size == 0) {
      return fail(ErrorCode::InvalidInput, input.name + " is empty (0 bytes), wanted a recording");
    }
  }
  return input;
}

Result<size_t> read_some(InputFile& input, std::span<std::byte> out) {
  if (!input.head.empty()) {
    const size_t count = std::min(input.head.size(), out.size());
    const auto end = input.head.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(input.head.begin(), end, out.begin());
    input.head.erase(input.head.begin(), end);
    return count;
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
