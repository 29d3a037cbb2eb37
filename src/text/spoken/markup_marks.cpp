#include "text/spoken/markup_marks.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "text/spoken/tokens.h"

namespace mynah {
namespace {

constexpr int kDeepestBrackets = 3;

}  // namespace

bool is_rule(std::string_view line) {
  const std::string_view marks = trimmed(line);
  return marks.size() > 2 && std::string_view("-*_=").find(marks[0]) != std::string_view::npos &&
         marks.find_first_not_of(std::string{marks[0], ' '}) == std::string_view::npos;
}

std::string_view fence_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with("```") && !text.starts_with("~~~")) {
    return {};
  }
  const size_t end = std::min(text.find_first_not_of(text[0]), text.size());
  // A code span may have three backticks too, and ends on its line.
  return text[0] == '`' && text.find('`', end) != std::string_view::npos ? std::string_view{}
                                                                         : text.substr(0, end);
}

size_t bullet_length(std::string_view text) {
  if (text.size() < 2 || std::string_view("-*+").find(text[0]) == std::string_view::npos ||
      text[1] != ' ') {
    return 0;
  }
  const std::string_view box = text.substr(2, 4);
  return box == "[ ] " || box == "[x] " || box == "[X] " ? 6 : 2;
}

// "1. " and "2) " stay: their numbers are said.
bool is_numbered(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && digits < 4 && digits + 1 < text.size() &&
         (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ';
}

bool is_note(std::string_view line) {
  const size_t close = line.find("]:");
  return line.starts_with("[^") && close != std::string_view::npos && close > 2 &&
         line.substr(2, close - 2).find_first_of(" []") == std::string_view::npos;
}

bool is_link_definition(std::string_view line) {
  const size_t close = line.find("]: ");
  if (!line.starts_with('[') || close == std::string_view::npos || close < 2 ||
      line.find('[', 1) < close) {
    return false;
  }
  const std::string_view target = trimmed(line.substr(close + 3));
  const size_t space = std::min(target.find(' '), target.size());
  const std::string_view title = trimmed(target.substr(space));
  return !target.empty() &&
         (title.empty() || std::string_view("\"'(").find(title[0]) != std::string_view::npos);
}

bool next_attribute(std::string_view& rest, std::string_view& name, std::string_view& value) {
  constexpr std::string_view kSpace = " \t\r\n\f/";
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  if (rest.empty()) {
    return false;
  }
  // A "=" at the begin is part of the name (HTML living standard, 13.2.5.32).
  name = rest.substr(0, rest.find_first_of(" \t\r\n\f/=", 1));
  rest.remove_prefix(name.size());
  value = {};
  const std::string_view behind =
      rest.substr(std::min(rest.find_first_not_of(" \t\r\n\f"), rest.size()));
  if (!behind.starts_with('=')) {
    return true;
  }
  rest = trimmed(behind.substr(1));
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    const size_t end = std::min(rest.find(rest[0], 1), rest.size());
    value = rest.substr(1, end - 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  } else {
    value = rest.substr(0, rest.find_first_of(" \t\r\n\f"));
    rest.remove_prefix(value.size());
  }
  return true;
}

std::string_view attribute_of(std::string_view tag, std::string_view name) {
  std::string_view rest = tag.substr(std::min(tag.find_first_of(" \t\r\n\f/"), tag.size()));
  std::string_view found;
  std::string_view value;
  while (next_attribute(rest, found, value)) {
    if (ascii_lower(found) == name) {
      return value;
    }
  }
  return {};
}

size_t closing_bracket(std::string_view text, bool final) {
  int depth = 0;
  const size_t limit = std::min(text.size(), kLongestLink);
  for (size_t i = 0; i < limit; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '[') {
      ++depth;
      if (depth > kDeepestBrackets) {
        return std::string_view::npos;
      }
    } else if (text[i] == ']' && --depth == 0) {
      return i;
    } else if (text[i] == '\n' && i + 1 < limit && text[i + 1] == '\n') {
      return std::string_view::npos;
    }
  }
  return final || limit == kLongestLink ? std::string_view::npos : 0;
}

}  // namespace mynah
