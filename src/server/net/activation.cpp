#include "server/net/activation.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace mynah::server {
namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
constexpr int kMost = 64;

std::optional<int> number_of(const Environment& environment, const std::string& name) {
  const std::string text = environment.get(name).value_or("");
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

bool listens(int fd) {
  int type = 0;
  int accepts = 0;
  socklen_t size = sizeof(int);
  const bool is_stream =
      ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
  size = sizeof(int);
  return is_stream && ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 &&
         accepts != 0;
}

}  // namespace

Result<std::vector<PassedSocket>> passed_sockets(const Environment& environment) {
  std::vector<PassedSocket> sockets;
  const auto count = number_of(environment, "LISTEN_FDS");
  if (number_of(environment, "LISTEN_PID") != ::getpid() || !count) {
    return sockets;
  }
  if (*count < 0 || *count > kMost) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("LISTEN_FDS: wanted 0 to {} sockets, found {}", kMost, *count));
  }
  const std::string all = environment.get("LISTEN_FDNAMES").value_or("");
  std::string_view names = all;
  for (int fd = kFirst; fd < kFirst + *count; ++fd) {
    if (!listens(fd)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("LISTEN_FDS: wanted sockets that listen for streams "
                              "(ListenStream=), found another at {}",
                              fd));
    }
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    sockets.push_back({.fd = fd, .name = std::string(name)});
  }
  return sockets;
}

std::string host_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return {};
  }
  if (address.ss_family == AF_UNIX) {
    const auto& local = reinterpret_cast<const sockaddr_un&>(address);
    const std::string_view path(local.sun_path, size - offsetof(sockaddr_un, sun_path));
    return std::string(path.substr(0, path.find('\0', 1)));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* of = nullptr;
  if (address.ss_family == AF_INET) {
    of = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.ss_family == AF_INET6) {
    of = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  return of != nullptr && ::inet_ntop(address.ss_family, of, text.data(), text.size()) != nullptr
             ? std::string(text.data())
             : std::string();
}

}  // namespace mynah::server
