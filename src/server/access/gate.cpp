#include "server/access/gate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/host_name.h"
#include "server/access/addresses.h"
#include "server/http/errors.h"
#include "server/http/websocket.h"
#include "store/base64.h"

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

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kMisdirected = 421;
constexpr int kTooMany = 429;

// A page in a browser gives its WebSocket no headers, but subprotocols: one is a key, as OpenAI has
// it.
std::string_view key_among(const std::vector<std::string_view>& protocols) {
  constexpr std::string_view kMark = "openai-insecure-api-key.";
  for (const std::string_view protocol : protocols) {
    if (protocol.starts_with(kMark)) {
      return protocol.substr(kMark.size());
    }
  }
  return {};
}

// The password of a login: Bazarr and others that have no field for a key take it in the address,
// http://any:KEY@host. Empty: there is none.
std::string password_of(std::string_view login) {
  const auto plain = bytes_of_base64(login);
  const size_t colon = plain ? plain->find(':') : std::string::npos;
  return colon == std::string::npos ? std::string() : plain->substr(colon + 1);
}

// Whether it can be a name or an address, with a port or without.
bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return is_ascii_alnum(static_cast<unsigned char>(c)) ||
           std::string_view("-._:[]%~").contains(c);
  });
}

std::string key_of(const RequestHead& head) {
  constexpr std::string_view kBearer = "bearer ";
  constexpr std::string_view kBasic = "basic ";
  const std::string_view told = head.headers.get("authorization");
  if (starts_with_but_for_case(told, kBearer)) {
    return std::string(trimmed(told.substr(kBearer.size())));
  }
  std::string key(head.headers.get("x-api-key"));
  if (key.empty()) {
    key = key_among(offered_protocols(head.headers));
  }
  return key.empty() && starts_with_but_for_case(told, kBasic)
             ? password_of(trimmed(told.substr(kBasic.size())))
             : key;
}

}  // namespace

Gate::Gate(GateOptions options, KeyRing& keys, ClientSecrets& secrets, ErrorTeller tell_error)
    : options_(std::move(options)),
      keys_(keys),
      secrets_(secrets),
      tell_error_(std::move(tell_error)) {
  options_.names.push_back("localhost");
  if (const std::string name = host_name(); !name.empty()) {
    options_.names.push_back(name);
    options_.names.push_back(name + ".local");
  }
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
  const auto is_other = [host](const Headers::Field& field) {
    return equal_but_for_case(field.first, "host") && field.second != host;
  };
  if (!is_host(host) || std::ranges::any_of(head.headers.fields(), is_other)) {
    constexpr int kBadRequest = 400;
    return refusal(head, kBadRequest, ErrorCode::InvalidInput,
                   "Host: wanted one, a name or an address and a port");
  }
  if (!host.empty() && !head.peer.empty() && !is_name_of_ours(host)) {
    return refusal(
        head, kMisdirected, ErrorCode::InvalidInput,
        fmt::format("'{0}' is no name of this server: start it with --host-name {0} if it is",
                    without_port(host)));
  }
  const std::string_view origin = head.headers.get("origin");
  const bool foreign =
      origin.empty() ? head.headers.get("sec-fetch-site") == "cross-site" : !may_ask(origin, host);
  if (foreign) {
    return refusal(
        head, kForbidden, ErrorCode::InvalidInput,
        origin.empty()
            ? "a page of another site asks: it may not"
            : fmt::format("a page of {0} asks: start mynah serve with --cors {0} if it may",
                          origin));
  }
  return std::nullopt;
}

Response Gate::refusal(const RequestHead& head, int status, ErrorCode code,
                       std::string message) const {
  Response refused = tell_error_(head, {code, std::move(message)});
  refused.status = status;
  return refused;
}

Response Gate::later(const RequestHead& head, std::chrono::milliseconds wait,
                     const std::string& message) const {
  Response refused = refusal(head, kTooMany, ErrorCode::Busy, message);
  set_retry_after(refused, wait);
  return refused;
}

std::optional<KeyRing::Owner> Gate::owner_of(std::string_view key, RequestHead& head, bool socket) {
  if (socket) {
    if (auto grant = secrets_.redeem(key)) {
      head.session = std::move(grant->session);
      return std::move(grant->owner);
    }
  }
  return keys_.find(key);
}

std::optional<Response> Gate::admit(RequestHead& head, Open open, Rights wanted, bool socket) {
  if (open == Open::ToAll) {
    return std::nullopt;
  }
  if (keys_.empty()) {
    static_cast<void>(owner_of(key_of(head), head, socket));  // for the session that it carries
    head.rights = is_this_machine(head.peer) ? kAllRights : kUsualRights;
    if (!head.rights.has_all_of(wanted)) {
      return refusal(head, kForbidden, ErrorCode::InvalidInput,
                     "without a key this may be asked on this machine alone: mynah keys add makes "
                     "one that has the right");
    }
    return std::nullopt;
  }
  const std::string key = key_of(head);
  if (key.empty()) {
    Response refused = refusal(head, kUnauthorized, ErrorCode::InvalidInput,
                               "wanted a key: Authorization: Bearer KEY");
    refused.headers.set("WWW-Authenticate", "Bearer");
    return refused;
  }
  const auto owner = owner_of(key, head, socket);
  if (const auto wait = guesses_->wait(head.peer, owner ? owner->name : std::string())) {
    return later(head, *wait,
                 fmt::format("ten wrong keys came from this address within a minute: none is "
                             "looked at for {:.0f} s",
                             std::ceil(std::chrono::duration<double>(*wait).count())));
  }
  if (!owner) {
    guesses_->wrong(head.peer);
    Response refused = refusal(head, kUnauthorized, ErrorCode::InvalidInput,
                               "the key in Authorization is not one of this server's");
    refused.headers.set("WWW-Authenticate", "Bearer");
    return refused;
  }
  guesses_->right(head.peer, owner->name);
  if (!owner->rights.has_all_of(wanted)) {
    return refusal(
        head, kForbidden, ErrorCode::InvalidInput,
        fmt::format("the key {} has the rights {}; this wants {}", owner->name,
                    fmt::join(names_of(owner->rights), ", "), fmt::join(names_of(wanted), ", ")));
  }
  if (const auto full = keys_.begin(owner->name)) {
    return later(head, full->wait, full->message);
  }
  head.owner = owner->name;
  head.rights = owner->rights;
  return std::nullopt;
}

void Gate::count_audio(RequestWork& work) const {
  if (!work.owner().empty()) {
    work.spend_by(
        [keys = &keys_, owner = work.owner()](double audio_s) { keys->spend(owner, audio_s); });
  }
}

void Gate::leave(const RequestHead& head) {
  if (!head.owner.empty()) {
    keys_.end(head.owner);
  }
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
                         "X-Request-Id, X-Mynah-Device, X-Mynah-Model, X-Mynah-Voice, "
                         "X-Mynah-Ignored, X-Mynah-Shared, X-Mynah-Queue-Ms, Server-Timing, "
                         "Retry-After, retry-after-ms");
    response.headers.set("Vary", "Origin");
  }
}

}  // namespace mynah::server
