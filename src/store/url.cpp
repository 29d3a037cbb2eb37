#include "store/url.h"

#include <algorithm>
#include <ranges>

#include <fmt/core.h>

#include "base/ascii.h"

namespace mynah {
namespace {

std::string_view default_port(std::string_view scheme) {
  return scheme == "https" ? "443" : "80";
}

std::unexpected<Error> bad_url(std::string_view text, std::string_view found) {
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("wanted an address like https://host/path, found {} in '{}'", found, text));
}

bool is_port(std::string_view text) {
  return is_ascii_digits(text) && text.size() <= 5;
}

// Control characters and spaces would let an address write headers of its own.
bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

// host, host:port, [v6], [v6]:port.
bool split_host(std::string_view authority, Url& url) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) {
      return false;
    }
    url.host = ascii_lower(authority.substr(1, end - 1));
    authority.remove_prefix(end + 1);
    if (!authority.empty() && authority.front() != ':') {
      return false;
    }
    port = authority.empty() ? authority : authority.substr(1);
  } else {
    const size_t colon = authority.find(':');
    url.host = ascii_lower(authority.substr(0, colon));
    port = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon + 1);
  }
  url.port = port.empty() ? default_port(url.scheme) : port;
  // Brackets stand around a host and never in one (RFC 3986, 3.2.2).
  return !url.host.empty() && !url.host.contains('[') && !url.host.contains(']') &&
         is_port(url.port);
}

}  // namespace

std::string Url::authority() const {
  return port == default_port(scheme) ? host_and_port().substr(0, host_and_port().rfind(':'))
                                      : host_and_port();
}

std::string Url::host_and_port() const {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Url::text() const {
  return fmt::format("{}://{}{}", scheme, authority(), target);
}

Result<Url> parse_url(std::string_view text) {
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) {
    return bad_url(text, "no scheme");
  }
  if (has_control_characters(text)) {
    return bad_url(text, "spaces or control characters");
  }
  Url url;
  url.scheme = ascii_lower(text.substr(0, scheme_end));
  if (url.scheme != "http" && url.scheme != "https") {
    return bad_url(text, fmt::format("the scheme '{}'", url.scheme));
  }
  std::string_view rest = text.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find('#'));
  const size_t path = rest.find_first_of("/?");
  std::string_view authority = rest.substr(0, path);
  url.target = path == std::string_view::npos ? "/" : rest.substr(path);
  if (!url.target.starts_with('/')) {
    url.target = fmt::format("/{}", url.target);
  }
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.user = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  if (!split_host(authority, url)) {
    return bad_url(text, "no host or a bad port");
  }
  return url;
}

Result<Url> resolve_location(const Url& base, std::string_view location) {
  if (location.contains("://") && location.find("://") < location.find_first_of("/?#")) {
    return parse_url(location);
  }
  if (location.starts_with("//")) {
    return parse_url(base.scheme + ":" + std::string(location));
  }
  if (location.starts_with('/')) {
    return parse_url(fmt::format("{}://{}{}", base.scheme, base.authority(), location));
  }
  const std::string path = base.target.substr(0, base.target.find('?'));
  return parse_url(fmt::format("{}://{}{}{}", base.scheme, base.authority(),
                               path.substr(0, path.rfind('/') + 1), location));
}

std::string proxy_for(const Url& url, const Proxies& proxies) {
  for (const auto part : std::views::split(proxies.no_proxy, ',')) {
    std::string domain = ascii_lower(std::string_view(part));
    std::erase_if(domain, is_ascii_space);
    if (domain == "*") {
      return "";
    }
    if (domain.starts_with('.')) {
      domain.erase(0, 1);
    }
    if (!domain.empty() && (url.host == domain || url.host.ends_with("." + domain))) {
      return "";
    }
  }
  const std::string& own = url.scheme == "https" ? proxies.https : proxies.http;
  return own.empty() ? proxies.all : own;
}

}  // namespace mynah
