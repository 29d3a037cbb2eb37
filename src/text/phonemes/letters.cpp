#include "text/phonemes/letters.h"

#include <algorithm>
#include <array>
#include <utility>

#include <utf8proc.h>

#include "base/ascii.h"
#include "text/unicode.h"

namespace mynah {
namespace {

constexpr char32_t kSharpS = U'\u00DF';

bool is_ascii(std::u32string_view text) {
  return std::ranges::all_of(text, [](char32_t c) { return c < 0x80; });
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_capital(char32_t c) {
  return c < 0x80 ? is_ascii_upper(c) : category(c) == UTF8PROC_CATEGORY_LU;
}

bool is_small(char32_t c) {
  return c < 0x80 ? is_ascii_lower(c) : category(c) == UTF8PROC_CATEGORY_LL;
}

char32_t upper_of(char32_t c) {
  return c < 0x80 ? ascii_upper(c)
                  : static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace

bool is_alphabetic(char32_t c) {
  return c < 0x80 ? is_ascii_letter(c) : is_letter(c);
}

bool is_alphabetic(std::u32string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char32_t c) { return is_alphabetic(c); });
}

bool is_any_digit(char32_t c) {
  return c < 0x80 ? is_ascii_digit(c) : category(c) == UTF8PROC_CATEGORY_ND;
}

bool has_digit_value(char32_t c) {
  // UnicodeData.txt, Numeric_Type=Digit: superscripts, circled digits, Ethiopic and others.
  constexpr std::array<std::pair<char32_t, char32_t>, 20> kRanges = {
      {{0xB2, 0xB3},       {0xB9, 0xB9},       {0x1369, 0x1371},   {0x19DA, 0x19DA},
       {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
       {0x2474, 0x247C},   {0x2488, 0x2490},   {0x24EA, 0x24EA},   {0x24F5, 0x24FD},
       {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},   {0x278A, 0x2792},
       {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A}}};
  return is_any_digit(c) || (c >= 0x80 && std::ranges::any_of(kRanges, [c](const auto& range) {
                               return c >= range.first && c <= range.second;
                             }));
}

bool is_word_letter(char32_t c) {
  return c < 0x80 ? is_alphabetic(c) : is_letter(c) || (is_number(c) && !is_any_digit(c));
}

bool is_lower(std::u32string_view text) {
  return std::ranges::any_of(text, is_small) && std::ranges::none_of(text, is_capital);
}

bool is_upper(std::u32string_view text) {
  return std::ranges::any_of(text, is_capital) && std::ranges::none_of(text, is_small);
}

std::u32string lower(std::u32string_view text) {
  if (!is_ascii(text)) {
    return to_lower(text);
  }
  std::u32string result(text);
  for (char32_t& c : result) {
    c = ascii_lower(c);
  }
  return result;
}

std::u32string upper(std::u32string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (const char32_t c : text) {
    if (c == kSharpS) {
      result += U"SS";
    } else {
      result += upper_of(c);
    }
  }
  return result;
}

std::u32string capitalized(std::u32string_view text) {
  if (text.empty()) {
    return {};
  }
  const char32_t title =
      text[0] < 0x80
          ? ascii_upper(text[0])
          : static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(text[0])));
  return title + lower(text.substr(1));
}

std::u32string without_marks(std::u32string_view text) {
  if (is_ascii(text)) {
    return std::u32string(text);
  }
  // Letters of Latin whose marks Unicode does not take apart.
  constexpr std::array<std::pair<char32_t, std::u32string_view>, 20> kLetters = {
      {{U'\u00C6', U"Ae"}, {U'\u00D0', U"D"},  {U'\u00D8', U"O"}, {U'\u00DE', U"Th"},
       {U'\u00DF', U"ss"}, {U'\u00E6', U"ae"}, {U'\u00F0', U"d"}, {U'\u00F8', U"o"},
       {U'\u00FE', U"th"}, {U'\u0110', U"D"},  {U'\u0111', U"d"}, {U'\u0126', U"H"},
       {U'\u0127', U"h"},  {U'\u0131', U"i"},  {U'\u0141', U"L"}, {U'\u0142', U"l"},
       {U'\u0152', U"Oe"}, {U'\u0153', U"oe"}, {U'\u0166', U"T"}, {U'\u0167', U"t"}}};
  std::u32string plain;
  for (const char32_t c : nfkd(text)) {
    const auto* const letter =
        std::ranges::find(kLetters, c, &std::pair<char32_t, std::u32string_view>::first);
    if (letter != kLetters.end()) {
      plain += letter->second;
    } else if (!is_mark(c)) {
      plain += c;
    }
  }
  return plain;
}

bool has_no_capitals(std::u32string_view text) {
  return is_ascii(text) ? std::ranges::none_of(text, is_capital) : lower(text) == text;
}

bool has_no_small_letters(std::u32string_view text) {
  return is_ascii(text) ? std::ranges::none_of(text, is_small) : upper(text) == text;
}

}  // namespace mynah
