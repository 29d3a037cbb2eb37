#include "text/spoken/markup_marks.h"

#include <algorithm>
#include <string>

#include "text/spoken/characters.h"

namespace mynah {
namespace {

constexpr int kDeepestBrackets = 3;

}  // namespace

std::string_view trim_space(std::string_view text) {
  while (!text.empty() && is_ascii_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_ascii_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

bool is_rule(std::string_view line) {
  const std::string_view marks = trim_space(line);
  return marks.size() > 2 && std::string_view("-*_=").find(marks[0]) != std::string_view::npos &&
         marks.find_first_not_of(std::string{marks[0], ' '}) == std::string_view::npos;
}

std::string_view fence_of(std::string_view line) {
  const std::string_view text = trim_space(line);
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
  const std::string_view target = trim_space(line.substr(close + 3));
  const size_t space = std::min(target.find(' '), target.size());
  const std::string_view title = trim_space(target.substr(space));
  return !target.empty() &&
         (title.empty() || std::string_view("\"'(").find(title[0]) != std::string_view::npos);
}

std::string_view attribute_of(std::string_view tag, std::string_view name) {
  const std::string wanted = " " + std::string(name) + "=";
  const size_t at = tag.find(wanted);
  if (at == std::string_view::npos || at + wanted.size() >= tag.size()) {
    return {};
  }
  const char quote = tag[at + wanted.size()];
  if (quote != '"' && quote != '\'') {
    return {};
  }
  const size_t begin = at + wanted.size() + 1;
  const size_t end = tag.find(quote, begin);
  return end == std::string_view::npos ? std::string_view{} : tag.substr(begin, end - begin);
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
