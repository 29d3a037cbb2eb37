// KeyRing: the keys of a server that runs, and what each has asked for lately.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/access/keys.h"

namespace mynah::server {

struct KeySources {
  std::vector<std::string> secrets;  // keys as such, with the usual rights
  std::string file;                  // of keys (keys.h); "": none
  bool must_be_there = false;        // the file, where somebody named it
};

// Thread-safe.
class KeyRing {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // Who a key belongs to.
  struct Owner {
    std::string name;
    Rights rights;
  };

  // Reads the file. Environment where it must be there and cannot be read; else what read_keys()
  // refuses but NotFound.
  static Result<std::unique_ptr<KeyRing>> open(KeySources sources, Now now = Clock::now);

  // Reads the file again, as it is now: requests under way go on. On an error the keys stay.
  Status reload();

  // None: requests need no key.
  [[nodiscard]] bool empty() const;

  // Whose key that is.
  [[nodiscard]] std::optional<Owner> find(std::string_view key) const;

  // A limit that is reached, and how long whoever asked should wait.
  struct Full {
    std::chrono::milliseconds wait;
    std::string message;
  };

  // One request more of that owner; otherwise why not.
  [[nodiscard]] std::optional<Full> begin(const std::string& owner);
  // The request is over.
  void end(const std::string& owner);

  // So many seconds of audio were heard or spoken for that owner. A recording that is longer than
  // its minute is heard; what comes next waits for it.
  void spend(const std::string& owner, double audio_s);
  // None: more may be heard and spoken for that owner. Otherwise how long it should wait.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_for_audio(const std::string& owner);

  // A limit of a minute.
  struct Left {
    double limit = 0;
    double left = 0;                   // of it, 0 at least
    std::chrono::milliseconds full{};  // until all of it is left
  };

  // Those that the owner has; none: it has as much as it likes.
  struct AllLeft {
    std::optional<Left> requests;
    std::optional<Left> audio_s;
  };

  [[nodiscard]] AllLeft left_to(const std::string& owner);

 private:
  // What flows back into a minute's share.
  struct Share {
    double left = 0;
    Clock::time_point seen{};
  };

  struct Usage {
    uint32_t under_way = 0;
    Share requests;
    Share audio;
  };

  KeyRing(KeySources sources, Now now) : sources_(std::move(sources)), now_(std::move(now)) {}

  static void refill(Share& share, double a_minute, Clock::time_point now);
  // Those of that owner; under the lock.
  [[nodiscard]] KeyLimits limits_of(const std::string& owner) const;

  const KeySources sources_;
  const Now now_;
  mutable std::mutex mutex_;
  std::vector<Key> keys_;
  std::map<std::string, Usage> usage_;  // by owner
};

// One request of an owner's, as long as it lives. Thread-safe.
class Visit {
 public:
  // Busy, with how long to wait, where the owner's limits are reached. `keys` must outlive it.
  static Result<std::unique_ptr<Visit>> begin(KeyRing& keys, std::string owner);

  ~Visit() { keys_.end(owner_); }

  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Visit(KeyRing& keys, std::string owner) : keys_(keys), owner_(std::move(owner)) {}

  KeyRing& keys_;
  const std::string owner_;
};

}  // namespace mynah::server
