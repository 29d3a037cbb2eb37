#include "text/grammar/string_formats.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mynah::grammar {
namespace {

// RFC 3339, section 5.6: full-date of the years 1000 to 9999, with the days that a month has (the
// 29th of February in leap years), and full-time without leap seconds.
constexpr std::string_view kDate =
    R"((?:[1-9]\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|)"
    R"((?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))|)"
    R"((?:[1-9]\d(?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|1[26]|[3579][26])00)-02-29))";
constexpr std::string_view kTime =
    R"((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))";

// RFC 3339, appendix A.
constexpr std::string_view kDuration =
    R"(P(?:\d{1,9}W|(?:\d{1,9}Y(?:\d{1,9}M(?:\d{1,9}D)?)?|\d{1,9}M(?:\d{1,9}D)?|\d{1,9}D))"
    R"((?:T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S))?|)"
    R"(T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S)))";

// RFC 1123, section 2.1: labels of at most 63 characters, here at most 4 of them (below 253 in
// all).
constexpr std::string_view kLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,57}[A-Za-z0-9])?";

// RFC 2673, section 3.2.
constexpr std::string_view kOctet = R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";

// RFC 4291, section 2.2, form 1.
constexpr std::string_view kIpv6 = "(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}";

// RFC 9562, section 4.
constexpr std::string_view kUuid = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}";

struct Format {
  std::string_view name;
  std::string expression;
};

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats = [] {
    const std::string host = fmt::format(R"({0}(?:\.{0}){{0,3}})", kLabel);
    return std::vector<Format>{
        {"date", std::string(kDate)},
        {"time", std::string(kTime)},
        {"date-time", fmt::format("{}T{}", kDate, kTime)},
        {"duration", std::string(kDuration)},
        {"uuid", std::string(kUuid)},
        // RFC 5321, section 4.1.2: a dot-string of at most 64 characters at a host.
        {"email",
         fmt::format(
             R"([A-Za-z0-9]{{1,16}}(?:[._+-][A-Za-z0-9]{{1,15}}){{0,3}}@{0}(?:\.{0}){{1,3}})",
             kLabel)},
        {"hostname", host},
        {"ipv4", fmt::format(R"((?:{0}\.){{3}}{0})", kOctet)},
        {"ipv6", std::string(kIpv6)},
        // RFC 3986, section 3: of http and https, without user and port.
        {"uri",
         fmt::format(
             R"(https?://{}(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*)"
             R"((?:\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?(?:#[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?)",
             host)},
    };
  }();
  return kFormats;
}

}  // namespace

std::optional<std::string> format_expression(std::string_view name) {
  for (const Format& format : formats()) {
    if (format.name == name) {
      return format.expression;
    }
  }
  return std::nullopt;
}

std::string format_names() {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    names.push_back(format.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace mynah::grammar
