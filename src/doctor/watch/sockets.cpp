#include "doctor/watch/sockets.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/watch/process_view.h"

namespace mynah::doctor {

namespace {

constexpr std::string_view kTcpListens = "0A";
constexpr uint64_t kUnixListens = 0x10000;  // a flag of the kernel's: it accepts connections

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::istringstream words{std::string(line)};
  return {std::istream_iterator<std::string>(words), {}};
}

// "0100007F:1F90": words of four bytes as the machine has them, then the port.
std::optional<std::string> address(std::string_view text, bool six) {
  constexpr size_t kDigits = 8;
  const size_t words = six ? 4 : 1;
  const size_t colon = words * kDigits;
  if (text.size() <= colon || text[colon] != ':') {
    return std::nullopt;
  }
  std::array<uint32_t, 4> parts{};
  for (size_t i = 0; i < words; ++i) {
    const auto part = number(text.substr(i * kDigits, kDigits), 16);
    if (!part) {
      return std::nullopt;
    }
    parts[i] = static_cast<uint32_t>(*part);
  }
  const auto port = number(text.substr(colon + 1), 16);
  std::array<char, INET6_ADDRSTRLEN> shown{};
  if (!port ||
      ::inet_ntop(six ? AF_INET6 : AF_INET, parts.data(), shown.data(), shown.size()) == nullptr) {
    return std::nullopt;
  }
  return six ? fmt::format("[{}]:{}", shown.data(), *port)
             : fmt::format("{}:{}", shown.data(), *port);
}

}  // namespace

Sockets parse_tcp_sockets(std::string_view text, bool six) {
  Sockets sockets;
  std::string_view line;
  while (take_line(text, line)) {
    constexpr size_t kLocal = 1;
    constexpr size_t kRemote = 2;
    constexpr size_t kState = 3;
    constexpr size_t kInode = 9;
    const auto fields = fields_of(line);
    if (fields.size() <= kInode) {
      continue;
    }
    const auto inode = number(fields[kInode], 10);
    auto local = address(fields[kLocal], six);
    auto remote = address(fields[kRemote], six);
    if (!inode || !local || !remote) {
      continue;
    }
    Socket socket{.local = *std::move(local), .remote = {}, .listens = false};
    socket.listens = fields[kState] == kTcpListens;
    if (!socket.listens) {
      socket.remote = *std::move(remote);
    }
    sockets.insert_or_assign(*inode, std::move(socket));
  }
  return sockets;
}

Sockets parse_unix_sockets(std::string_view text) {
  Sockets sockets;
  std::string_view line;
  while (take_line(text, line)) {
    constexpr size_t kFlags = 3;
    constexpr size_t kInode = 6;
    const auto fields = fields_of(line);
    if (fields.size() <= kInode) {
      continue;
    }
    const auto flags = number(fields[kFlags], 16);
    const auto inode = number(fields[kInode], 10);
    if (!flags || !inode) {
      continue;
    }
    sockets.insert_or_assign(
        *inode, Socket{.local = fields.size() > kInode + 1 ? fields[kInode + 1] : std::string(),
                       .remote = {},
                       .listens = (*flags & kUnixListens) != 0});
  }
  return sockets;
}

Sockets sockets_of(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/net/", process);
  Sockets sockets = parse_tcp_sockets(proc_text(folder + "tcp"), false);
  sockets.merge(parse_tcp_sockets(proc_text(folder + "tcp6"), true));
  sockets.merge(parse_unix_sockets(proc_text(folder + "unix")));
  return sockets;
}

uint64_t socket_inode(std::string_view file) {
  constexpr std::string_view kBefore = "socket:[";
  if (!file.starts_with(kBefore) || !file.ends_with(']')) {
    return 0;
  }
  return number(file.substr(kBefore.size(), file.size() - kBefore.size() - 1), 10).value_or(0);
}

std::string file_words(std::string_view file, const Sockets& sockets) {
  const auto found = sockets.find(socket_inode(file));
  if (found == sockets.end()) {
    return std::string(file);
  }
  const Socket& socket = found->second;
  if (socket.listens) {
    return fmt::format("the socket {}, on which it listens", socket.local);
  }
  return socket.remote.empty() ? std::string(file)
                               : fmt::format("a TCP connection to {}", socket.remote);
}

}  // namespace mynah::doctor
