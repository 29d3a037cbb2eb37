#include "server/http/message.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::server {
namespace {

struct Phrase {
  int status;
  std::string_view text;
};

// RFC 9110, section 15; 499 is nginx's for a client that left.
constexpr std::array<Phrase, 28> kPhrases = {{
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
}};

bool is_named(const Headers::Field& field, std::string_view name) {
  return equal_but_for_case(field.first, name);
}

// -1: none.
int hex_value(char c) {
  const char lower = ascii_lower(c);
  return is_ascii_digit(lower) ? lower - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// `plus`: "+" is a space.
Result<std::string> decoded(std::string_view text, bool plus) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
      if (low < 0) {
        return fail(ErrorCode::InvalidInput,
                    "wanted two hexadecimal digits behind '%' in the address");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    if (c == '\0') {
      return fail(ErrorCode::InvalidInput, "a zero byte in the address");
    }
    result += c;
  }
  return result;
}

// A value that holds a name of the client's must not begin another line.
std::string printable(std::string value) {
  std::ranges::replace_if(
      value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return value;
}

}  // namespace

void Headers::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(fields_, [&name](const Field& field) { return is_named(field, name); });
  add(std::move(name), std::move(value));
}

std::string_view Headers::get(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields_, [name](const Field& field) { return is_named(field, name); });
  return found == fields_.end() ? std::string_view() : found->second;
}

bool Headers::has(std::string_view name) const {
  return std::ranges::any_of(fields_, [name](const Field& field) { return is_named(field, name); });
}

std::optional<std::string_view> RequestHead::asked(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
  return found == query.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::string head_text(const Response& response) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  if (!response.type.empty()) {
    text += fmt::format("Content-Type: {}\r\n", response.type);
  }
  for (const auto& [name, value] : response.headers.fields()) {
    text += fmt::format("{}: {}\r\n", name, printable(value));
  }
  return text;
}

std::string_view reason_phrase(int status) {
  const auto found = std::ranges::find(kPhrases, status, &Phrase::status);
  return found == kPhrases.end() ? "Status" : found->text;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) {
      continue;
    }
    const size_t equals = pair.find('=');
    MYNAH_TRY(std::string name, decoded(pair.substr(0, equals), true));
    MYNAH_TRY(std::string value,
              decoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true));
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return pairs;
}

Status parse_target(std::string_view target, RequestHead& head) {
  // The absolute form, which proxies are asked by (RFC 9112, section 3.2.2), is as good.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) {
      const size_t path = target.find('/', scheme.size());
      target = path == std::string_view::npos ? "/" : target.substr(path);
    }
  }
  if (!target.starts_with('/')) {
    return fail(ErrorCode::InvalidInput, "wanted a path such as /v1/models");
  }
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  MYNAH_TRY(head.path, decoded(target.substr(0, mark), false));
  if (mark != std::string_view::npos) {
    MYNAH_TRY(head.query, parse_pairs(target.substr(mark + 1)));
  }
  return {};
}

}  // namespace mynah::server
