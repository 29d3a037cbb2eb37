#include "cli/serve/service_manager.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/unique_fd.h"

namespace mynah::cli {

void tell_service_manager(const Environment& environment, std::string_view state) {
  const std::string path = environment.get("NOTIFY_SOCKET").value_or("");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return;
  }
  std::ranges::copy(path, address.sun_path);
  if (path.starts_with('@')) {
    address.sun_path[0] = '\0';  // an abstract one
  }
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  // Whoever does not listen is told nothing.
  static_cast<void>(::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), size));
}

void tell_of_reload(const Environment& environment) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  tell_service_manager(
      environment, fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                               std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
}

}  // namespace mynah::cli
