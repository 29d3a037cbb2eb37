#include "talk/tools/secret_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/unique_fd.h"

namespace mynah::talk {

Result<std::string> read_secret_file(const std::string& path) {
  constexpr size_t kMostSecret = 8192;
  constexpr mode_t kOthers = 077;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!fd || ::fstat(fd.get(), &about) != 0) {
    return fail(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(about.st_mode)) {
    return fail(ErrorCode::InvalidInput, fmt::format("{} is no file", path));
  }
  if ((about.st_mode & kOthers) != 0) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{} may be read by others: wanted mode 0600 (chmod 600 {})", path, path));
  }
  std::array<char, kMostSecret + 1> bytes{};
  const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
  const std::string_view secret =
      trimmed(std::string_view(bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))));
  if (secret.empty() || secret.size() > kMostSecret ||
      !std::ranges::all_of(secret, [](char c) { return c > ' ' && c <= '~'; })) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted one line of letters and signs without blanks", path));
  }
  return std::string(secret);
}

}  // namespace mynah::talk
