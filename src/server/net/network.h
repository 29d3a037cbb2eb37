// Network: the sockets that clients come by, on one thread that never waits for a model.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/net/byte_session.h"
#include "server/net/connection_settings.h"
#include "server/net/tls_files.h"

namespace mynah::server {

class Front;

struct NetworkOptions {
  // Sockets that listen already (activation.h), in place of host and port; empty: none do.
  std::vector<int> passed{};
  std::string host = "127.0.0.1";  // a name or an address; or a path: that of a Unix socket
  int port = 8080;                 // 0: any that is free
  size_t most_connections = 1024;  // others wait until one ends
  size_t most_requests = 256;      // under way at once; others are told to come again
  ConnectionSettings connection;
  TlsFiles tls;  // none: HTTP; a Unix socket's clients speak it in any case
};

// What there is at the moment.
struct NetworkCounts {
  size_t connections = 0;  // clients, of whichever protocol
  size_t requests = 0;     // under way, with a thread each
};

class Network {
 public:
  // Listens. Environment where the address cannot be had, with what to do. `front` must outlive it.
  static Result<std::unique_ptr<Network>> listen(NetworkOptions options, Front& front);

  virtual ~Network() = default;

  // Whether a client of that address may come.
  using Admits = std::function<bool(const std::string& peer)>;

  // Listens on another port for clients of another protocol, before run(). As listen().
  virtual Status listen_also(const std::string& host, int port, const ByteSessionMaker& make,
                             const Admits& admits) = 0;

  // Reads the certificate again, for clients that come from now on. From any thread.
  virtual Status reload() = 0;

  // The same on sockets that listen already.
  virtual Status listen_also(const std::vector<int>& passed, const ByteSessionMaker& make,
                             const Admits& admits) = 0;

  // From any thread.
  [[nodiscard]] virtual NetworkCounts counts() const = 0;

  // Where it listens: "127.0.0.1:8080", "[::1]:8080", "/run/mynah.sock".
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
  // The same for clients of other protocols.
  [[nodiscard]] virtual std::vector<std::string> other_addresses() const = 0;

  // Serves until stop() was called and nothing is under way any more.
  virtual void run() = 0;

  // Takes nobody new, lets what is under way come to its end; a second time: ends that, too. From
  // any thread.
  virtual void stop() = 0;
};

}  // namespace mynah::server
