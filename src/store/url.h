// Addresses of the web, as far as downloads need them (RFC 3986; http and https only).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

struct Url {
  std::string scheme;  // "http" or "https"
  std::string user;    // "name:password", or empty
  std::string host;    // without the brackets of an IPv6 address
  std::string port;    // always set: the scheme's own where the address names none
  std::string target;  // path and query, begins with '/'

  // "host" or "host:port", as a Host header has it: IPv6 in brackets, no port where it is the
  // scheme's own.
  [[nodiscard]] std::string authority() const;
  // "host:port", the port always there.
  [[nodiscard]] std::string host_and_port() const;
  // The whole address without user and password: safe to print.
  [[nodiscard]] std::string text() const;
};

// Splits an address. An address without a scheme is refused.
Result<Url> parse_url(std::string_view text);

// What a Location header means at an address: absolute, "//host/...", "/path", or relative.
Result<Url> resolve_location(const Url& base, std::string_view location);

// Proxies by the usual environment variables; an empty text is none.
struct Proxies {
  std::string http;
  std::string https;
  std::string all;
  std::string no_proxy;  // "example.org,.local,10.0.0.1" or "*"
};

// The proxy's address for a request, or empty to go direct.
[[nodiscard]] std::string proxy_for(const Url& url, const Proxies& proxies);

}  // namespace mynah
