#include "place/terms/another_mynah.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "place/terms/device_name.h"
#include "store/this_machine.h"
#include "store/url.h"

namespace mynah::place {
namespace {

constexpr size_t kLongestName = 32;
constexpr size_t kDigestBytes = 32;

std::unexpected<Error> refuse(std::string_view word, std::string_view why) {
  return fail(ErrorCode::Usage,
              fmt::format("--device: wanted another mynah as NAME=mynah://HOST:PORT (behind it "
                          "?key-file=FILE, ca-file=FILE, fingerprint=AB:CD:..., open, "
                          "prefer, with & between), found '{}': {}",
                          word, why));
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_ascii_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) {
           return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_';
         });
}

// "AB:CD:..." of digits with or without colons between; "": it is none.
std::string fingerprint_of(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ':') {
      digits += ascii_upper(c);
    }
  }
  const bool right = digits.size() == 2 * kDigestBytes && std::ranges::all_of(digits, [](char c) {
                       return is_small_hex_digit(static_cast<char32_t>(ascii_lower(c)));
                     });
  std::string made;
  for (size_t i = 0; right && i < digits.size(); i += 2) {
    made += (i == 0 ? "" : ":") + digits.substr(i, 2);
  }
  return made;
}

// "%2C" stands for what has a meaning of its own in --device.
Result<std::string> decoded(std::string_view text, std::string_view word) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2 || value == 0) {
      return refuse(word, "behind '%' stand two digits");
    }
    made += static_cast<char>(value);
    i += 2;
  }
  return made;
}

Status take_option(std::string_view option, std::string_view word, bool& open,
                   AnotherMynah& mynah) {
  const size_t equals = std::min(option.find('='), option.size());
  const std::string_view name = option.substr(0, equals);
  const bool has_value = equals + 1 < option.size();
  MYNAH_TRY(std::string value,
            decoded(has_value ? option.substr(equals + 1) : std::string_view(), word));
  if (name == "open" && equals == option.size()) {
    open = true;
  } else if (name == "prefer" && equals == option.size()) {
    mynah.prefer = true;
  } else if (name == "key-file" && has_value) {
    mynah.key_file = std::move(value);
  } else if (name == "ca-file" && has_value) {
    mynah.ca_file = std::move(value);
  } else if (name == "fingerprint" && has_value) {
    mynah.fingerprint = fingerprint_of(value);
    if (mynah.fingerprint.empty()) {
      return refuse(word,
                    "a fingerprint is 64 hexadecimal digits, as `mynah serve --lan` shows it");
    }
  } else if (name == "key") {
    // Not shown: it is a secret.
    return fail(ErrorCode::Usage,
                "--device: a key stands in no command line, where others see it: write it to a "
                "file, and say ?key-file=FILE");
  } else {
    return refuse(word, fmt::format("'{}' is none of these", option));
  }
  return {};
}

}  // namespace

std::string AnotherMynah::address() const {
  return fmt::format("{}://{}:{}", secure ? "https" : "http",
                     host.contains(':') ? "[" + host + "]" : host, port);
}

bool is_another_mynah(std::string_view word) {
  const size_t scheme = word.find("://");
  return scheme != std::string_view::npos && std::ranges::count(word.substr(0, scheme), '=') <= 1;
}

Result<AnotherMynah> parse_another_mynah(std::string_view word) {
  const size_t equals = std::min(word.find('='), word.size());
  if (equals > word.find("://")) {
    return refuse(word, "it has no name in front");
  }
  AnotherMynah mynah;
  mynah.name = word.substr(0, equals);
  if (!is_name(mynah.name) || !is_mynah(mynah.name)) {
    return refuse(word,
                  "its name is yours to choose: letters, digits, '-' and '_', and no name "
                  "that a device has");
  }
  std::string_view address = equals < word.size() ? word.substr(equals + 1) : std::string_view();
  if (!address.starts_with(kMynahScheme)) {
    return refuse(word, "its address begins with mynah://");
  }
  address.remove_prefix(kMynahScheme.size());
  const size_t question = std::min(address.find('?'), address.size());
  const auto url = parse_url(fmt::format("http://{}", address.substr(0, question)));
  if (!url || url->host.empty()) {
    return refuse(word, url ? std::string("it has no host") : url.error().message);
  }
  if (!url->user.empty() || (url->target != "/" && !url->target.empty())) {
    return refuse(word, "behind its port stands no path, and before its host no name");
  }
  mynah.host = url->host;
  mynah.port = url->port;
  if (mynah.port == "80" && !address.substr(0, question).ends_with(":80")) {
    mynah.port = "8080";  // mynah serve's own
  }
  bool open = false;
  if (question < address.size()) {
    for (const std::string_view option : split(address.substr(question + 1), '&')) {
      MYNAH_TRY_STATUS(take_option(option, word, open, mynah));
    }
  }
  const bool trusts = !mynah.ca_file.empty() || !mynah.fingerprint.empty();
  if (open && trusts) {
    return refuse(word, "open is without https, and has no certificate to trust");
  }
  mynah.secure = !open && (trusts || !is_this_machine(mynah.host));
  if (open && !mynah.key_file.empty() && !is_this_machine(mynah.host)) {
    return refuse(word, "a key goes by https alone: leave open out, or key-file");
  }
  return mynah;
}

}  // namespace mynah::place
