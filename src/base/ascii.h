// ASCII's characters and their case, whatever the locale. What is no ASCII (a byte of a longer
// UTF-8 sequence, a code point from 0x80 on) is of no class and has no case: Unicode's rules are in
// text/unicode.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// White space as std::isspace has it in the "C" locale.
inline constexpr std::string_view kAsciiSpace = " \t\n\v\f\r";

// Classes of a char or of a code point: a char below 0 becomes one that Unicode does not have.
[[nodiscard]] constexpr bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

[[nodiscard]] constexpr bool is_ascii_upper(char32_t c) {
  return c >= U'A' && c <= U'Z';
}

[[nodiscard]] constexpr bool is_ascii_lower(char32_t c) {
  return c >= U'a' && c <= U'z';
}

[[nodiscard]] constexpr bool is_ascii_letter(char32_t c) {
  return is_ascii_upper(c) || is_ascii_lower(c);
}

[[nodiscard]] constexpr bool is_ascii_alnum(char32_t c) {
  return is_ascii_letter(c) || is_ascii_digit(c);
}

// One of kAsciiSpace.
[[nodiscard]] constexpr bool is_ascii_space(char32_t c) {
  return c == U' ' || (c >= U'\t' && c <= U'\r');
}

// A digit of a number in base 16 as digests are written: 0 to 9, a to f.
[[nodiscard]] constexpr bool is_small_hex_digit(char32_t c) {
  return is_ascii_digit(c) || (c >= U'a' && c <= U'f');
}

// The letter in the other case; all else as it is.
[[nodiscard]] constexpr char ascii_lower(char c) {
  return is_ascii_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] constexpr char ascii_upper(char c) {
  return is_ascii_lower(c) ? static_cast<char>(c - ('a' - 'A')) : c;
}

[[nodiscard]] constexpr char32_t ascii_lower(char32_t c) {
  return is_ascii_upper(c) ? c + (U'a' - U'A') : c;
}

[[nodiscard]] constexpr char32_t ascii_upper(char32_t c) {
  return is_ascii_lower(c) ? c - (U'a' - U'A') : c;
}

[[nodiscard]] std::string ascii_lower(std::string_view text);
[[nodiscard]] std::string ascii_upper(std::string_view text);

// Whether two texts are the same but for the case of ASCII's letters.
[[nodiscard]] constexpr bool equal_but_for_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (ascii_lower(a[i]) != ascii_lower(b[i])) {
      return false;
    }
  }
  return true;
}

[[nodiscard]] constexpr bool ends_with_but_for_case(std::string_view text,
                                                    std::string_view ending) {
  return text.size() >= ending.size() &&
         equal_but_for_case(text.substr(text.size() - ending.size()), ending);
}

[[nodiscard]] constexpr bool starts_with_but_for_case(std::string_view text,
                                                      std::string_view beginning) {
  return equal_but_for_case(text.substr(0, beginning.size()), beginning);
}

// One digit or more, and nothing else.
[[nodiscard]] constexpr bool is_ascii_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Without the characters of `blanks` at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view blanks = kAsciiSpace) {
  const size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// The parts between separators: always one more than there are separators, empty ones too.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// The parts between separators that are not empty.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text,
                                                        char separator = ' ');

}  // namespace mynah
