// An address, and a Location header seen from it: what a server or a user may write.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/url.h"

namespace mynah {
namespace {

// What is sent to a server has no line ends in it, and what is printed means the same address.
void check_url(const Url& url) {
  for (const std::string& part : {url.authority(), url.target, url.text()}) {
    MYNAH_CHECK(part.find_first_of("\r\n") == std::string::npos, "an address breaks a line");
  }
  MYNAH_CHECK(url.target.starts_with('/'), "a target begins with '/'");
  const auto again = parse_url(url.text());
  MYNAH_CHECK(again.has_value(), "an address is none when printed");
  MYNAH_CHECK(again->host_and_port() == url.host_and_port() && again->target == url.target,
              "an address means another when printed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::string_view rest = text.substr(std::min(first.size() + 1, text.size()));
  const auto url = parse_url(first);
  if (!url) {
    return 0;
  }
  check_url(*url);
  if (const auto moved = resolve_location(*url, rest)) {
    check_url(*moved);
  }
  static_cast<void>(proxy_for(
      *url, {.http = "a:1", .https = "b:2", .all = "c:3", .no_proxy = std::string(rest)}));
  return 0;
}

}  // namespace mynah
