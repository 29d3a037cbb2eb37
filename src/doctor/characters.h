// ASCII, whatever the locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace mynah::doctor {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

[[nodiscard]] constexpr bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}

[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// Without blanks at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// Takes the first line off a text, without its end ("\n" or "\r\n"); false: there is none left.
[[nodiscard]] constexpr bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) {
    return false;
  }
  const size_t end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

[[nodiscard]] constexpr char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), small_letter);
  return small;
}

}  // namespace mynah::doctor
