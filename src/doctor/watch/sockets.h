// The sockets of a running program, as /proc/net tells of them: proc_net(5).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace mynah::doctor {

struct Socket {
  std::string local;   // "127.0.0.1:8000", "[::]:80"; of a Unix socket its path, may be empty
  std::string remote;  // of a connection over TCP; empty: of none
  bool listens = false;
};

// By inode. Lines that are none are left out.
using Sockets = std::map<uint64_t, Socket>;

// The text of /proc/net/tcp, or where six is true of /proc/net/tcp6.
[[nodiscard]] Sockets parse_tcp_sockets(std::string_view text, bool six);

// The text of /proc/net/unix.
[[nodiscard]] Sockets parse_unix_sockets(std::string_view text);

// Those of the network that a process is in, over TCP and of Unix.
[[nodiscard]] Sockets sockets_of(pid_t process);

// The inode in "socket:[123]", the target of a link in /proc/PID/fd; 0: it is no socket.
[[nodiscard]] uint64_t socket_inode(std::string_view file);

// "a TCP connection to 1.2.3.4:443", "the socket 0.0.0.0:8000, on which it listens"; for a socket
// that is not among them, or a file that is none, the file itself.
[[nodiscard]] std::string file_words(std::string_view file, const Sockets& sockets);

}  // namespace mynah::doctor
