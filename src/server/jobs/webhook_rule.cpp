#include "server/jobs/webhook_rule.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "store/url.h"

namespace mynah::server {

WebhookRule::WebhookRule(const std::vector<std::string>& allowed) {
  for (const std::string& one : allowed) {
    if (const auto range = AddressRange::parse(one)) {
      ranges_.push_back(*range);
    } else {
      hosts_.push_back(ascii_lower(one));
    }
  }
}

Status WebhookRule::check_allowed(const std::string& one) {
  if (AddressRange::parse(one)) {
    return {};
  }
  const auto may_stand = [](char c) {
    return is_ascii_alnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  // What has no letter is an address that is wrong.
  if (std::ranges::all_of(one, may_stand) &&
      one.find_first_not_of("0123456789.") != std::string::npos) {
    return {};
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("wanted an address, a range such as 10.0.0.0/8 or a host's name, found "
                          "'{}'",
                          one));
}

Status WebhookRule::check(const std::string& url) const {
  constexpr size_t kMost = 2048;
  const auto parsed = parse_url(url);
  if (!parsed || url.size() > kMost) {
    return fail(ErrorCode::InvalidInput,
                "webhook: wanted an address such as https://example.org/heard, found another text");
  }
  if (!parsed->user.empty()) {
    return fail(ErrorCode::InvalidInput,
                "webhook: wanted an address without a name and a password: what is sent is signed");
  }
  if (is_address(parsed->host) && !may_connect(parsed->host, parsed->host)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("webhook: {} is a private address, which this server tells nothing "
                            "unless it was started with --webhook-allow",
                            parsed->host));
  }
  return {};
}

bool WebhookRule::may_connect(const std::string& host, const std::string& address) const {
  return is_public(address) || std::ranges::count(hosts_, ascii_lower(host)) > 0 ||
         std::ranges::any_of(
             ranges_, [&address](const AddressRange& range) { return range.contains(address); });
}

}  // namespace mynah::server
