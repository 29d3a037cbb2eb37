#include "text/unicode.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <utf8proc.h>

#include "base/check.h"
#include "text/utf8.h"

namespace mynah {
namespace {

utf8proc_category_t category(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

bool between(utf8proc_category_t value, utf8proc_category_t low, utf8proc_category_t high) {
  return value >= low && value <= high;
}

// Unicode's Case_Ignorable, by category and the word-break characters of chapter 3.13.
bool is_case_ignorable(char32_t c) {
  constexpr std::u32string_view kWordBreaks =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027";
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return kWordBreaks.find(c) != std::u32string_view::npos;
  }
}

// Whether the capital sigma at `at` ends a word: a cased letter before it and none after.
bool ends_word(std::u32string_view text, size_t at) {
  const auto counts = [](char32_t c) { return !is_case_ignorable(c); };
  const std::u32string_view after = text.substr(at + 1);
  const auto next = std::ranges::find_if(after, counts);
  const std::u32string_view before = text.substr(0, at);
  const auto previous = std::find_if(before.rbegin(), before.rend(), counts);
  return previous != before.rend() && is_cased_letter(*previous) &&
         (next == after.end() || !is_cased_letter(*next));
}

std::u32string normal_form(std::u32string_view text, int form) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT | form);
  const std::string bytes = to_utf8(text);
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
  const auto size = static_cast<utf8proc_ssize_t>(bytes.size());
  const utf8proc_ssize_t wanted = utf8proc_decompose(data, size, nullptr, 0, options);
  MYNAH_CHECK(wanted >= 0, "UTF-8 of our own making cannot be decomposed");
  std::vector<utf8proc_int32_t> buffer(static_cast<size_t>(wanted) + 1);
  utf8proc_decompose(data, size, buffer.data(), wanted, options);
  const utf8proc_ssize_t used = utf8proc_normalize_utf32(buffer.data(), wanted, options);
  return {buffer.begin(), buffer.begin() + used};
}

}  // namespace

int general_category(char32_t code_point) {
  return static_cast<int>(category(code_point));
}

std::string_view general_category_name(int category) {
  // In the order of utf8proc_category_t.
  constexpr std::array<std::string_view, kGeneralCategories> kNames = {
      "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
      "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
  return kNames[static_cast<size_t>(category)];
}

bool is_letter(char32_t code_point) {
  return between(category(code_point), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_cased_letter(char32_t code_point) {
  return between(category(code_point), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT);
}

bool is_number(char32_t code_point) {
  return between(category(code_point), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_white_space(char32_t code_point) {
  // PropList.txt: the separators, and six controls.
  return (code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x85 ||
         between(category(code_point), UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP);
}

bool is_mark(char32_t code_point) {
  return between(category(code_point), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing_mark(char32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_MN;
}

bool is_symbol_or_punctuation(char32_t code_point) {
  return between(category(code_point), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_SO);
}

bool is_python_space(char32_t code_point) {
  return (code_point >= 0x1C && code_point <= 0x1F) || is_white_space(code_point);
}

bool is_word_character(char32_t code_point) {
  return code_point == U'_' || is_letter(code_point) || is_number(code_point);
}

std::optional<int> decimal_digit(char32_t code_point) {
  const auto is_digit = [](char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; };
  if (!is_digit(code_point)) {
    return std::nullopt;
  }
  // Digits of a script stand in a row of ten; where rows touch, the distance is still right.
  char32_t first = code_point;
  while (first > 0 && is_digit(first - 1)) {
    --first;
  }
  return static_cast<int>((code_point - first) % 10);
}

std::u32string to_lower(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == U'\u0130') {
      lower += U"i\u0307";
    } else if (text[i] == U'\u03A3' && ends_word(text, i)) {
      lower += U'\u03C2';
    } else {
      lower += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(text[i])));
    }
  }
  return lower;
}

char32_t to_title(char32_t letter) {
  return static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(letter)));
}

std::u32string canonical_parts(char32_t code_point) {
  std::array<utf8proc_int32_t, 4> parts{};  // the longest there is (UAX 15)
  int bound_class = 0;
  const utf8proc_ssize_t used =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts.data(), parts.size(),
                              UTF8PROC_DECOMPOSE, &bound_class);
  MYNAH_CHECK(used >= 0 && used <= static_cast<utf8proc_ssize_t>(parts.size()),
              "a code point has a canonical decomposition of at most four");
  return {parts.begin(), parts.begin() + used};
}

std::u32string nfkc(std::u32string_view text) {
  return normal_form(text, UTF8PROC_COMPOSE);
}

std::u32string nfkd(std::u32string_view text) {
  return normal_form(text, UTF8PROC_DECOMPOSE);
}

bool is_wide(char32_t code_point) {
  return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point)) == 2;
}

std::u32string separate_graphemes(std::u32string_view text) {
  std::u32string separated;
  utf8proc_int32_t state = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(text[i - 1]),
                                                  static_cast<utf8proc_int32_t>(text[i]), &state)) {
      separated += U' ';
    }
    separated += text[i];
  }
  return separated;
}

}  // namespace mynah
