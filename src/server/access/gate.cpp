#include "server/access/gate.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/ascii.h"
#include "store/sha256.h"

namespace mynah::server {
namespace {

// "mynah.lan" of "mynah.lan:8080", "::1" of "[::1]:8080".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_address(std::string_view host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const std::string text(host);
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

std::string own_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string();
}

std::string digest_of(std::string_view key) {
  return sha256_hex(std::as_bytes(std::span(key)));
}

}  // namespace

Gate::Gate(GateOptions options, ErrorTeller tell_error)
    : options_(std::move(options)), tell_error_(std::move(tell_error)) {
  options_.names.push_back("localhost");
  if (const std::string name = own_name(); !name.empty()) {
    options_.names.push_back(name);
    options_.names.push_back(name + ".local");
  }
  std::ranges::transform(options_.keys, std::back_inserter(digests_), digest_of);
}

// An address of a name's may change hands (DNS rebinding); an address as such is nobody else's.
bool Gate::is_name_of_ours(std::string_view host) const {
  const std::string_view name = without_port(host);
  return is_address(name) || std::ranges::any_of(options_.names, [name](const std::string& own) {
           return equal_but_for_case(own, name);
         });
}

bool Gate::may_ask(std::string_view origin, std::string_view host) const {
  const size_t scheme = origin.find("://");
  return (scheme != std::string_view::npos &&
          equal_but_for_case(origin.substr(scheme + 3), host)) ||
         std::ranges::find(options_.cors, origin) != options_.cors.end();
}

std::optional<Response> Gate::check_origin(const RequestHead& head) const {
  const std::string_view host = head.headers.get("host");
  if (!host.empty() && !head.peer.empty() && !is_name_of_ours(host)) {
    Response refused = tell_error_(
        head, {ErrorCode::InvalidInput,
               fmt::format("'{}' is no name of this server: start it with --host-name {} if it is",
                           without_port(host), without_port(host))});
    refused.status = 421;
    return refused;
  }
  const std::string_view origin = head.headers.get("origin");
  const bool foreign =
      origin.empty() ? head.headers.get("sec-fetch-site") == "cross-site" : !may_ask(origin, host);
  if (foreign) {
    Response refused = tell_error_(
        head, {ErrorCode::InvalidInput,
               origin.empty()
                   ? "a page of another site asks: it may not"
                   : fmt::format("a page of {0} asks: start mynah serve with --cors {0} if it may",
                                 origin)});
    refused.status = 403;
    return refused;
  }
  return std::nullopt;
}

std::optional<Response> Gate::check_key(const RequestHead& head, Open open) const {
  if (digests_.empty() || open == Open::ToAll) {
    return std::nullopt;
  }
  constexpr std::string_view kBearer = "bearer ";
  std::string_view key = head.headers.get("authorization");
  key = starts_with_but_for_case(key, kBearer) ? trimmed(key.substr(kBearer.size()))
                                               : head.headers.get("x-api-key");
  if (!key.empty() && std::ranges::find(digests_, digest_of(key)) != digests_.end()) {
    return std::nullopt;
  }
  Response refused =
      tell_error_(head, {ErrorCode::InvalidInput,
                         key.empty() ? "wanted a key: Authorization: Bearer KEY"
                                     : "the key in Authorization is not one of this server's"});
  refused.status = 401;
  refused.headers.set("WWW-Authenticate", "Bearer");
  return refused;
}

Response Gate::preflight(const RequestHead& head, std::string_view methods) const {
  Response allowed{.status = 204, .type = {}, .body = {}};
  allowed.headers.add("Allow", std::string(methods));
  if (head.headers.has("origin")) {
    allowed.headers.add("Access-Control-Allow-Methods", std::string(methods));
    // Libraries add headers of their own (x-stainless-*): whichever the page wants.
    const std::string_view wanted = head.headers.get("access-control-request-headers");
    if (!wanted.empty()) {
      allowed.headers.add("Access-Control-Allow-Headers", std::string(wanted));
    }
    allowed.headers.add("Access-Control-Max-Age", "86400");
  }
  return allowed;
}

void Gate::dress(const RequestHead& head, Response& response) const {
  const std::string_view origin = head.headers.get("origin");
  if (std::ranges::find(options_.cors, origin) != options_.cors.end()) {
    response.headers.set("Access-Control-Allow-Origin", std::string(origin));
    response.headers.set("Access-Control-Expose-Headers",
                         "X-Request-Id, X-Mynah-Device, X-Mynah-Model, Retry-After");
    response.headers.set("Vary", "Origin");
  }
}

}  // namespace mynah::server
