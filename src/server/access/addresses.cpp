#include "server/access/addresses.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/check.h"

namespace mynah::server {
namespace {

using Bytes = std::array<unsigned char, sizeof(in6_addr)>;

constexpr int kAllBits = 128;
constexpr int kMappedBits = 96;  // ::ffff:0:0/96 stands for IPv4 (RFC 4291, 2.5.5.2)

// Of IPv4, and of 2000::/3, the part of IPv6 that is given out.
constexpr std::array kSetApart = {
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",    "2001::/23",
    "2001:db8::/32", "2002::/16",       "3fff::/20"};

struct Parsed {
  Bytes bytes{};
  bool v4 = false;
};

std::optional<Parsed> parse_address(std::string_view text) {
  const std::string address(text);
  Parsed parsed;
  if (::inet_pton(AF_INET6, address.c_str(), parsed.bytes.data()) == 1) {
    return parsed;
  }
  constexpr size_t kMapped = kMappedBits / 8;
  parsed.v4 = ::inet_pton(AF_INET, address.c_str(), parsed.bytes.data() + kMapped) == 1;
  parsed.bytes[kMapped - 2] = 0xFF;
  parsed.bytes[kMapped - 1] = 0xFF;
  return parsed.v4 ? std::optional(parsed) : std::nullopt;
}

bool begin_alike(const Bytes& a, const Bytes& b, int bits) {
  const auto whole = static_cast<size_t>(bits) / 8;
  const int rest = bits % 8;
  return std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(whole), b.begin()) &&
         (rest == 0 || (a.at(whole) ^ b.at(whole)) >> (8 - rest) == 0);
}

}  // namespace

bool is_address(std::string_view text) {
  return parse_address(text).has_value();
}

bool is_this_machine(std::string_view host) {
  return host.empty() || host == "localhost" || host == "::1" || host.starts_with('/') ||
         (host.starts_with("127.") && is_address(host));
}

Result<AddressRange> AddressRange::parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  int bits = address && address->v4 ? kAllBits - kMappedBits : kAllBits;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    int wanted = -1;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), wanted);
    const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    bits = whole && wanted <= bits ? wanted : -1;
  }
  if (!address || bits < 0) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("wanted an address or a range such as 192.168.0.0/16, found '{}'", text));
  }
  AddressRange range;
  range.bytes_ = address->bytes;
  range.bits_ = bits + (address->v4 ? kMappedBits : 0);
  return range;
}

bool AddressRange::contains(std::string_view address) const {
  const auto parsed = parse_address(address);
  return parsed && begin_alike(parsed->bytes, bytes_, bits_);
}

bool is_public(std::string_view address) {
  const auto is_in = [address](const char* range) {
    const auto known = AddressRange::parse(range);
    MYNAH_CHECK(known.has_value(), "the ranges of the table can be read");
    return known->contains(address);
  };
  return (is_in("::ffff:0:0/96") || is_in("2000::/3")) && std::ranges::none_of(kSetApart, is_in);
}

}  // namespace mynah::server
