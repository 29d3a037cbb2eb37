#include "server/wyoming/satellite_port.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace mynah::server {
namespace {

constexpr size_t kMostClients = 8;
// Of one client that waits to be sent: a minute of sound and a half.
constexpr size_t kMostWaiting_bytes = size_t{3} << 20;
constexpr size_t kPiece_bytes = size_t{64} << 10;
constexpr int kBacklog = 8;

struct SatelliteClient {
  UniqueFd socket;
  std::string peer;
  WyomingReader reader;
  std::string waiting;  // to be sent
  bool leaves = false;  // once that was sent
};

struct Addresses {
  addrinfo* first = nullptr;

  Addresses() = default;
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  ~Addresses() {
    if (first != nullptr) {
      freeaddrinfo(first);
    }
  }
};

// "tcp://127.0.0.1:10700" of a socket's own address, or of who is at its other end without a port.
std::string numeric(const sockaddr_storage& address, socklen_t size, bool with_port) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(),
                  port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown";
  }
  if (!with_port) {
    return host.data();
  }
  const bool six = address.ss_family == AF_INET6;
  return fmt::format("tcp://{}{}{}:{}", six ? "[" : "", host.data(), six ? "]" : "", port.data());
}

Result<UniqueFd> listen_on(const SatellitePort& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  Addresses found;
  const std::string number = std::to_string(port.port);
  if (const int error = getaddrinfo(port.host.c_str(), number.c_str(), &hints, &found.first)) {
    return fail(ErrorCode::Usage, fmt::format("{}: wanted a numeric address, such as 0.0.0.0: {}",
                                              port.host, gai_strerror(error)));
  }
  UniqueFd socket(::socket(found.first->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (!socket || setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(socket.get(), found.first->ai_addr, found.first->ai_addrlen) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return fail(ErrorCode::Environment,
                fmt::format("cannot listen on {} port {}: {}; another port may be free", port.host,
                            port.port, std::strerror(errno)));
  }
  return socket;
}

class SatelliteLoop {
 public:
  SatelliteLoop(Satellite& satellite, SatelliteSound& sound, const SatellitePort& port,
                UniqueFd listener)
      : satellite_(satellite), sound_(sound), port_(port), listener_(std::move(listener)) {}

  Status run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      MYNAH_TRY(const std::vector<float> heard, sound_.hear(stop));
      if (heard.empty()) {
        return {};
      }
      apply(satellite_.hear(heard));
      if (reply_ends_ && !sound_.is_playing()) {
        reply_ends_ = false;
        apply(satellite_.played());
      }
      take_newcomers();
      for (const auto& client : clients_) {
        read(*client);
        write(*client);
      }
      see_off();
    }
    return {};
  }

 private:
  void tell(const std::string& text) const {
    if (port_.tell) {
      port_.tell(text);
    }
  }

  // What the satellite wants done; its messages are the server's.
  void apply(SatelliteStep step) {
    if (!step.fault.empty()) {
      tell(step.fault);
    }
    if (step.stop_sound) {
      sound_.stop_playing();
      if (std::exchange(reply_ends_, false)) {
        apply(satellite_.played());
      }
    }
    if (!step.sound.empty()) {
      sound_.play(step.sound);
    }
    reply_ends_ = reply_ends_ || step.sound_ends;
    if (server_ != nullptr) {
      for (const std::string& message : step.messages) {
        server_->waiting += message;
      }
    }
  }

  void take_newcomers() {
    while (clients_.size() < kMostClients) {
      sockaddr_storage address{};
      socklen_t size = sizeof(address);
      UniqueFd socket(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {
        return;
      }
      // A server whose machine is gone says nothing any more.
      const int yes = 1;
      setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
      auto client = std::make_unique<SatelliteClient>();
      client->socket = std::move(socket);
      client->peer = numeric(address, size, false);
      clients_.push_back(std::move(client));
    }
  }

  void read(SatelliteClient& client) {
    std::array<char, kPiece_bytes> piece;
    const ssize_t count =
        client.leaves ? -1 : recv(client.socket.get(), piece.data(), piece.size(), 0);
    if (count == 0 || (count < 0 && !client.leaves && errno != EAGAIN && errno != EINTR)) {
      client.leaves = true;
      client.waiting.clear();
      return;
    }
    if (count < 0) {
      return;
    }
    auto messages = client.reader.take(std::string_view(piece.data(), static_cast<size_t>(count)));
    if (!messages) {
      refuse(client, messages.error());
      return;
    }
    for (const WyomingMessage& message : *messages) {
      deal_with(client, message);
    }
  }

  void refuse(SatelliteClient& client, const Error& error) const {
    tell(fmt::format("{}: {}", client.peer, error.message));
    client.waiting += encode("error", {{"text", error.message}, {"code", nullptr}});
    client.leaves = true;
  }

  void deal_with(SatelliteClient& client, const WyomingMessage& message) {
    if (message.type == "run-satellite" && server_ == nullptr) {
      server_ = &client;
      tell(fmt::format("{} is the server", client.peer));
    }
    const bool asks = message.type == "describe" || message.type == "ping";
    if (&client != server_ && !asks) {
      return;
    }
    auto step = satellite_.take(message);
    if (!step) {
      refuse(client, step.error());
    } else if (asks) {
      for (const std::string& answer : step->messages) {
        client.waiting += answer;
      }
    } else {
      apply(*std::move(step));
    }
  }

  static void write(SatelliteClient& client) {
    if (client.waiting.empty()) {
      return;
    }
    const ssize_t count =
        send(client.socket.get(), client.waiting.data(), client.waiting.size(), MSG_NOSIGNAL);
    if (count > 0) {
      client.waiting.erase(0, static_cast<size_t>(count));
    } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
      client.waiting.clear();
      client.leaves = true;
    }
    if (client.waiting.size() > kMostWaiting_bytes) {
      client.waiting.clear();
      client.leaves = true;
    }
  }

  // Those that leave and were sent all that there was.
  void see_off() {
    const auto is_done = [](const std::unique_ptr<SatelliteClient>& client) {
      return client->leaves && client->waiting.empty();
    };
    const auto server =
        std::ranges::find_if(clients_, [&](const auto& client) { return client.get() == server_; });
    if (server != clients_.end() && is_done(*server)) {
      tell(fmt::format("{} left", (*server)->peer));
      server_ = nullptr;
      apply(satellite_.leave());
      reply_ends_ = false;
    }
    std::erase_if(clients_, is_done);
  }

  Satellite& satellite_;
  SatelliteSound& sound_;
  const SatellitePort& port_;
  UniqueFd listener_;
  std::vector<std::unique_ptr<SatelliteClient>> clients_;
  SatelliteClient* server_ = nullptr;  // one of them
  bool reply_ends_ = false;            // what is played now is the end of a reply
};

}  // namespace

Status run_satellite(Satellite& satellite, SatelliteSound& sound, const SatellitePort& port,
                     const std::stop_token& stop) {
  MYNAH_TRY(UniqueFd listener, listen_on(port));
  if (port.tell) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port.tell("listening on " + numeric(address, size, true));
  }
  return SatelliteLoop(satellite, sound, port, std::move(listener)).run(stop);
}

}  // namespace mynah::server
