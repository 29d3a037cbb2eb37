// Sockets that were opened for this process by what started it (sd_listen_fds(3)): it may listen
// where it may not itself, and clients that come while it starts wait for it.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace mynah::server {

struct PassedSocket {
  int fd = -1;
  std::string name;  // FileDescriptorName= of the socket's unit: "http", "wyoming"
};

// Those that LISTEN_FDS tells of, where LISTEN_PID is this process. InvalidInput where one is no
// socket that listens for streams.
[[nodiscard]] Result<std::vector<PassedSocket>> passed_sockets(const Environment& environment);

// Where a socket listens: "127.0.0.1", "::1", "/run/mynah.sock"; "": that cannot be said.
[[nodiscard]] std::string host_of(int fd);

}  // namespace mynah::server
