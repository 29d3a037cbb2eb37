#include "server/net/network.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <list>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "server/net/byte_connection.h"
#include "server/net/connection.h"
#include "server/net/tls.h"

namespace mynah::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Local = asio::local::stream_protocol;

// `option`: what names another place to listen at; "": none does.
std::unexpected<Error> cannot_listen(const std::string& where, std::string_view option,
                                     const error_code& error) {
  std::string what = fmt::format("listening on {}: {}", where, error.message());
  const bool by_port = option != "--host";
  if (error == asio::error::address_in_use) {
    what += fmt::format("; another {} it: {}stop that one",
                        by_port ? "server has" : "server or file has",
                        option.empty() ? "" : fmt::format("take another {}, or ", option));
  } else if (error == asio::error::access_denied && by_port && !option.empty()) {
    what += fmt::format("; ports below 1024 are root's: take another {}", option);
  }
  return fail(ErrorCode::Environment, std::move(what));
}

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

// The system would take megabytes for a client that takes nothing, and all that time they are
// computed. What is on its way to one that takes them is not counted.
void keep_little_unsent(int socket) {
  constexpr int kMost_bytes = 128 << 10;
  // Where a system has no such bound more is computed.
  static_cast<void>(
      ::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMost_bytes, sizeof(kMost_bytes)));
}

class AsioNetwork final : public Network {
 public:
  AsioNetwork(NetworkOptions options, Front& front)
      : options_(std::move(options)),
        front_(front),
        room_(io_.get_executor()),
        threads_(options_.most_requests) {}

  ~AsioNetwork() override {
    for (const std::string& path : paths_) {
      std::error_code ignored;  // it may be gone
      std::filesystem::remove(path, ignored);
    }
  }

  Status open() {
    if (options_.tls.any()) {
      MYNAH_TRY(tls_, Tls::load(options_.tls));
    }
    if (!options_.passed.empty()) {
      return adopt(options_.passed, {});
    }
    return options_.host.starts_with('/') ? open_local()
                                          : open_tcp(options_.host, options_.port, {});
  }

  Status listen_also(const std::string& host, int port, const ByteSessionMaker& make,
                     const Admits& admits) override {
    return open_tcp(host, port, {.make = make, .admits = admits});
  }

  Status reload() override { return tls_ ? tls_->reload() : Status(); }

  Status listen_also(const std::vector<int>& passed, const ByteSessionMaker& make,
                     const Admits& admits) override {
    return adopt(passed, {.make = make, .admits = admits});
  }

  [[nodiscard]] NetworkCounts counts() const override {
    return {.connections = clients_, .requests = threads_.busy()};
  }

  [[nodiscard]] std::vector<std::string> addresses() const override {
    std::vector<std::string> all = paths_;
    std::ranges::copy(passed_paths_, std::back_inserter(all));
    std::ranges::move(texts_of_doors(true), std::back_inserter(all));
    return all;
  }

  [[nodiscard]] std::vector<std::string> other_addresses() const override {
    return texts_of_doors(false);
  }

  void run() override {
    for (Door& door : tcp_) {
      asio::co_spawn(
          io_, [this, &door] { return accept(door.acceptor, door.guests); }, asio::detached);
    }
    for (Local::acceptor& acceptor : local_) {
      asio::co_spawn(io_, [this, &acceptor] { return accept(acceptor, http_); }, asio::detached);
    }
    io_.run();
  }

  void stop() override {
    asio::post(io_, [this] {
      const bool again = stopping_;
      stopping_ = true;
      error_code ignored;  // they may be closed already
      for (Door& door : tcp_) {
        static_cast<void>(door.acceptor.close(ignored));
      }
      for (Local::acceptor& acceptor : local_) {
        static_cast<void>(acceptor.close(ignored));
      }
      room_.notify();
      for (const auto& weak : connections_) {
        if (const auto connection = weak.lock()) {
          again ? connection->stop() : connection->drain();
        }
      }
      for (const auto& weak : sessions_) {
        if (const auto session = weak.lock()) {
          session->stop();
        }
      }
    });
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kBreath{100};
  static constexpr std::string_view kHttpOption = "--port";
  static constexpr std::string_view kBytesOption = "--wyoming-port (0: none)";

  // What is made of who comes.
  struct Guests {
    ByteSessionMaker make;  // null: a client of HTTP
    Admits admits;          // null: everybody
  };

  struct Door {
    tcp::acceptor acceptor;
    Guests guests;
  };

  [[nodiscard]] std::vector<std::string> texts_of_doors(bool http) const {
    std::vector<std::string> all;
    for (const Door& door : tcp_) {
      if (http == !door.guests.make) {
        all.push_back(text_of(door.acceptor.local_endpoint()));
      }
    }
    return all;
  }

  Status open_tcp(const std::string& host, int wanted_port, const Guests& guests) {
    tcp::resolver resolver(io_);
    error_code error;
    const auto found =
        resolver.resolve(host, std::to_string(wanted_port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error) {
      return fail(ErrorCode::Usage, fmt::format("--host {}: {}", host, error.message()));
    }
    const std::string_view option = guests.make ? kBytesOption : kHttpOption;
    // "localhost" is two addresses, on one port.
    int port = wanted_port;
    const size_t before = tcp_.size();
    for (const auto& entry : found) {
      tcp::endpoint endpoint = entry.endpoint();
      endpoint.port(static_cast<uint16_t>(port));
      tcp::acceptor acceptor(io_);
      static_cast<void>(acceptor.open(endpoint.protocol(), error));
      if (error == asio::error::address_family_not_supported) {
        continue;  // a machine without IPv6
      }
      if (!error) {
        static_cast<void>(acceptor.set_option(tcp::acceptor::reuse_address(true), error));
      }
      if (!error && endpoint.address().is_v6()) {
        static_cast<void>(acceptor.set_option(asio::ip::v6_only(true), error));
      }
      if (!error) {
        static_cast<void>(acceptor.bind(endpoint, error));
      }
      if (!error) {
        static_cast<void>(acceptor.listen(tcp::acceptor::max_listen_connections, error));
      }
      if (error == boost::system::errc::address_not_available && found.size() > 1) {
        continue;  // the name has an address that this machine does not
      }
      if (error) {
        return cannot_listen(text_of(endpoint), option, error);
      }
      port = acceptor.local_endpoint().port();
      tcp_.push_back({.acceptor = std::move(acceptor), .guests = guests});
    }
    return tcp_.size() == before ? cannot_listen(host, option, error) : Status();
  }

  // Takes sockets that listen already.
  Status adopt(const std::vector<int>& passed, const Guests& guests) {
    for (const int fd : passed) {
      sockaddr_storage address{};
      socklen_t size = sizeof(address);
      error_code error;
      if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        error = error_code(errno, boost::system::system_category());
      } else if (address.ss_family == AF_UNIX && !guests.make) {
        Local::acceptor acceptor(io_);
        static_cast<void>(acceptor.assign(Local(), fd, error));
        passed_paths_.push_back(acceptor.local_endpoint(error).path());
        local_.push_back(std::move(acceptor));
      } else if (address.ss_family == AF_INET || address.ss_family == AF_INET6) {
        tcp::acceptor acceptor(io_);
        static_cast<void>(
            acceptor.assign(address.ss_family == AF_INET ? tcp::v4() : tcp::v6(), fd, error));
        tcp_.push_back({.acceptor = std::move(acceptor), .guests = guests});
      } else {
        error = asio::error::address_family_not_supported;
      }
      if (error) {
        return cannot_listen(fmt::format("the socket that was passed as {}", fd), {}, error);
      }
    }
    return {};
  }

  Status open_local() {
    // A socket that a server left behind when it was killed answers nobody.
    struct stat status{};
    if (::lstat(options_.host.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
      Local::socket probe(io_);
      error_code alive;
      static_cast<void>(probe.connect(Local::endpoint(options_.host), alive));
      if (alive == asio::error::connection_refused) {
        std::error_code ignored;  // bind() says what is wrong
        std::filesystem::remove(options_.host, ignored);
      }
    }
    Local::acceptor acceptor(io_);
    error_code error;
    static_cast<void>(acceptor.open(Local(), error));
    if (!error) {
      static_cast<void>(acceptor.bind(Local::endpoint(options_.host), error));
    }
    if (!error) {
      ::chmod(options_.host.c_str(), 0660);
      static_cast<void>(acceptor.listen(Local::acceptor::max_listen_connections, error));
    }
    if (error) {
      return cannot_listen(options_.host, "--host", error);
    }
    paths_.push_back(options_.host);
    local_.push_back(std::move(acceptor));
    return {};
  }

  template <class Acceptor>
  asio::awaitable<void> accept(Acceptor& acceptor, const Guests& guests) {
    while (!stopping_) {
      connections_.remove_if([](const auto& weak) { return weak.expired(); });
      sessions_.remove_if([](const auto& weak) { return weak.expired(); });
      if (connections_.size() + sessions_.size() >= options_.most_connections) {
        // A client that others wait for has a second: nobody is dropped by a crowd that comes at
        // once.
        static_cast<void>(drop_one([](const auto& client) { return client.waits_since(); }));
        co_await room_.wait(Clock::now() + kBreath);
        continue;
      }
      error_code error;
      auto socket =
          co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (stopping_) {
        break;
      }
      if (error) {
        // No descriptors or memory, for a moment; what else there is concerns one client alone.
        co_await room_.wait(Clock::now() + kBreath);
        continue;
      }
      add(socket, guests);
    }
  }

  template <class Socket>
  void add(Socket& socket, const Guests& guests) {
    std::string peer;
    if constexpr (std::is_same_v<Socket, tcp::socket>) {
      error_code ignored;  // a client may be gone already
      static_cast<void>(socket.set_option(tcp::no_delay(true), ignored));
      keep_little_unsent(socket.native_handle());
      peer = socket.remote_endpoint(ignored).address().to_string();
    }
    if (guests.admits && !guests.admits(peer)) {
      return;  // which closes it
    }
    constexpr bool kByTcp = std::is_same_v<Socket, tcp::socket>;
    auto stream = kByTcp && tls_ && !guests.make ? tls_->stream(std::move(socket))
                                                 : plain_stream(std::move(socket));
    if (guests.make) {
      const auto session =
          std::make_shared<ByteConnection>(io_.get_executor(), std::move(stream), peer, guests.make,
                                           threads_, options_.connection.times.stall);
      sessions_.push_back(session);
      serve(session);
      return;
    }
    const auto connection =
        std::make_shared<Connection>(io_.get_executor(), std::move(stream), std::move(peer), front_,
                                     threads_, options_.connection, make_room_);
    connections_.push_back(connection);
    serve(connection);
  }

  // Drops the client that is waited for longest, `since` when, where that is long enough.
  bool drop_one(const auto& since) {
    constexpr std::chrono::seconds kGrace{1};
    auto longest = Clock::now() - kGrace;
    std::function<void()> drop;
    const auto look = [&](const auto& clients) {
      for (const auto& weak : clients) {
        const auto client = weak.lock();
        if (client != nullptr && since(*client) < longest) {
          longest = since(*client);
          drop = [client] { client->drop(); };
        }
      }
    };
    look(connections_);
    look(sessions_);
    if (drop) {
      drop();
    }
    return drop != nullptr;
  }

  template <class Client>
  void serve(const std::shared_ptr<Client>& client) {
    ++clients_;
    asio::co_spawn(
        io_, [client] { return client->run(); },
        [this](const std::exception_ptr& error) {
          --clients_;
          if (error) {
            std::rethrow_exception(error);
          }
          room_.notify();
        });
  }

  NetworkOptions options_;
  Front& front_;
  std::unique_ptr<Tls> tls_;  // null: none
  asio::io_context io_{1};
  Event room_;  // for another connection
  bool stopping_ = false;
  const Guests http_{};
  const RoomMaker make_room_ = [this](const std::string& share) {
    const bool full = threads_.busy() >= options_.most_requests;
    return drop_one([&](const auto& client) {
      return full || client.share() == share ? client.writes_since() : Clock::time_point::max();
    });
  };
  std::list<Door> tcp_;
  std::list<Local::acceptor> local_;
  std::vector<std::string> paths_;         // which are its own, to be removed
  std::vector<std::string> passed_paths_;  // which are not
  std::atomic<size_t> clients_{0};
  std::list<std::weak_ptr<Connection>> connections_;
  std::list<std::weak_ptr<ByteConnection>> sessions_;
  WorkThreads threads_;  // the first to go: they wake connections
};

}  // namespace

Result<std::unique_ptr<Network>> Network::listen(NetworkOptions options, Front& front) {
  auto network = std::make_unique<AsioNetwork>(std::move(options), front);
  MYNAH_TRY_STATUS(network->open());
  return network;
}

}  // namespace mynah::server
