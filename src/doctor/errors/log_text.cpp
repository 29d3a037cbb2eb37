#include "doctor/errors/log_text.h"

#include <algorithm>
#include <utility>

#include "doctor/characters.h"

namespace mynah::doctor {

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';
constexpr size_t kLongestName = 64;  // of a service, in front of a bar

// Where an escape sequence that begins at `at` ends, within its line.
size_t end_of_escape(std::string_view line, size_t at) {
  ++at;
  if (at >= line.size()) {
    return at;
  }
  if (line[at] == '[') {
    ++at;
    while (at < line.size() && (line[at] < '\x40' || line[at] > '\x7e')) {
      ++at;
    }
    return std::min(at + 1, line.size());
  }
  if (line[at] == ']') {
    const size_t end = line.find_first_of(std::string_view("\x07\x1b", 2), at);
    if (end == std::string_view::npos) {
      return line.size();
    }
    return line[end] == kBell ? end + 1 : std::min(end + 2, line.size());
  }
  return at + 1;
}

// Characters that stand for one of ASCII in what web pages and word processors make of a log.
constexpr std::pair<std::string_view, char> kTypography[] = {
    {"\xc2\xa0", ' '},     {"\xe2\x80\x98", '\''}, {"\xe2\x80\x99", '\''},
    {"\xe2\x80\x9c", '"'}, {"\xe2\x80\x9d", '"'},  {"\xef\xbb\xbf", ' '}};

// Appends the line without escapes, each run of blanks as one.
void append_clean(std::string_view line, std::string& out) {
  const size_t begin = out.size();
  const auto blank = [&] {
    if (out.size() > begin && out.back() != ' ') {
      out += ' ';
    }
  };
  size_t at = 0;
  while (at < line.size()) {
    const char c = line[at];
    if (c == kEscape) {
      at = end_of_escape(line, at);
      continue;
    }
    if (c == '\xc2' || c == '\xe2' || c == '\xef') {
      const auto* const known = std::ranges::find_if(
          kTypography, [&](const auto& entry) { return line.substr(at).starts_with(entry.first); });
      if (known != std::end(kTypography)) {
        at += known->first.size();
        if (known->second == ' ') {
          blank();
        } else {
          out += known->second;
        }
        continue;
      }
    }
    ++at;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      blank();
    } else if (c != '\0') {
      out += c;
    }
  }
  if (out.size() > begin && out.back() == ' ') {
    out.pop_back();
  }
}

// Bytes of "web-1 | " at the beginning.
size_t service_length(std::string_view line) {
  const size_t end = line.substr(0, kLongestName).find(' ');
  return end != std::string_view::npos && end > 0 && line.substr(end).starts_with(" | ") ? end + 3
                                                                                         : 0;
}

// Whether it is digits where `form` has '0', and the same elsewhere.
bool has_form(std::string_view text, std::string_view form) {
  return text.size() >= form.size() &&
         std::ranges::equal(text.substr(0, form.size()), form, [](char c, char wanted) {
           return wanted == '0' ? is_digit(c) : c == wanted;
         });
}

// Bytes of "2026-11-24T07:19:09.5Z " or "[2026-11-24 07:19:09,5] " at the beginning.
size_t date_length(std::string_view line) {
  size_t at = line.starts_with('[') ? 1 : 0;
  if (!has_form(line.substr(at), "0000-00-00")) {
    return 0;
  }
  at = line.find(' ', at);
  if (at != std::string_view::npos && has_form(line.substr(at + 1), "00:00:00")) {
    at = line.find(' ', at + 1);
  }
  return at == std::string_view::npos ? 0 : at + 1;
}

size_t prefix_length(std::string_view line) {
  const size_t service = service_length(line);
  return service + date_length(line.substr(service));
}

}  // namespace

std::string plain_log(std::string_view log) {
  std::string text;
  text.reserve(log.size());
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const size_t line = text.size();
    append_clean(log.substr(begin, end - begin), text);
    text.erase(line, prefix_length(std::string_view(text).substr(line)));
    if (end < log.size()) {
      text += '\n';
    }
    begin = end + 1;
  }
  return text;
}

std::string printable_line(std::string_view text, size_t at, size_t most) {
  at = std::min(at, text.size());
  const size_t before = text.substr(0, at).rfind('\n');
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(text.find('\n', at), text.size());
  // Of a line that is too long, what begins a little before.
  const size_t from = end - begin <= most ? begin : std::max(begin, at - std::min(at, most / 4));
  std::string line(text.substr(from, std::min(end - from, most)));
  std::ranges::replace_if(line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

}  // namespace mynah::doctor
