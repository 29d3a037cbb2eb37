#include "server/access/guesses.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace mynah::server {
namespace {

constexpr size_t kMostWrong = 10;
constexpr std::chrono::minutes kWhile{1};
constexpr size_t kMostAddresses = 4096;

// Whoever has an address of IPv6 has 2^64 of them (RFC 4291, 2.5.1): the first half stands for all.
std::string half_of(const std::string& peer) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET6, peer.c_str(), bytes.data()) != 1) {
    return peer;
  }
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

std::optional<std::chrono::milliseconds> Guesses::wait(const std::string& peer,
                                                       const std::string& owner) const {
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  const auto found = addresses_.find(half_of(peer));
  if (found == addresses_.end() || found->second.wrong.size() < kMostWrong ||
      found->second.owners.contains(owner)) {
    return std::nullopt;
  }
  const auto left = found->second.wrong.front() + kWhile - now;
  if (left <= Clock::duration::zero()) {
    return std::nullopt;
  }
  return std::chrono::ceil<std::chrono::milliseconds>(left);
}

Guesses::Address& Guesses::of(const std::string& peer) {
  const std::string half = half_of(peer);
  if (addresses_.size() >= kMostAddresses && !addresses_.contains(half)) {
    addresses_.erase(std::ranges::min_element(addresses_, {},
                                              [](const auto& entry) { return entry.second.seen; }));
  }
  Address& address = addresses_[half];
  address.seen = now_();
  return address;
}

void Guesses::wrong(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  Address& address = of(peer);
  address.wrong.push_back(address.seen);
  if (address.wrong.size() > kMostWrong) {
    address.wrong.pop_front();
  }
}

void Guesses::right(const std::string& peer, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  of(peer).owners.insert(owner);
}

}  // namespace mynah::server
