// ClientSecrets: keys for a minute, which a page or a phone is handed in place of the key as such.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/access/key_ring.h"

namespace mynah::server {

// Thread-safe. They live in memory alone: with the server they go.
class ClientSecrets {
 public:
  using Clock = std::chrono::steady_clock;

  // From making one to the socket that it opens.
  static constexpr std::chrono::seconds kLife{60};

  explicit ClientSecrets(std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)) {}

  // Whom a secret stands for.
  struct Grant {
    KeyRing::Owner owner;
    std::string session;  // what the socket begins with, JSON; "": nothing in particular
  };

  // A secret that opens one socket: "ek_...". Busy where many wait to be used, Environment where
  // the system has no random numbers.
  Result<std::string> make(Grant grant);

  // What was granted; the secret is used up. None: it is unknown, was used or is older than a
  // minute.
  [[nodiscard]] std::optional<Grant> redeem(std::string_view secret);

 private:
  struct Waiting {
    Grant grant;
    Clock::time_point until;
  };

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::map<std::string, Waiting> waiting_;  // by digest
};

}  // namespace mynah::server
