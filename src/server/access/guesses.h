// Guesses: wrong keys by the addresses that they came from, so that nobody tries many.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace mynah::server {

// Thread-safe.
class Guesses {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Guesses(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // How long a key from that address is not looked at, as ten wrong ones came from it within a
  // minute. That of an owner whose key came from there before is: others in the house go on.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait(const std::string& peer,
                                                              const std::string& owner) const;

  void wrong(const std::string& peer);
  void right(const std::string& peer, const std::string& owner);

 private:
  struct Address {
    std::deque<Clock::time_point> wrong;  // the last ten
    std::set<std::string> owners;         // whose keys came from there
    Clock::time_point seen{};
  };

  // The record of an address, which may put another's out: as many are kept as a house has.
  Address& of(const std::string& peer);

  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::map<std::string, Address> addresses_;
};

}  // namespace mynah::server
