#include "text/spoken/canonical_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

bool between(char32_t c, char32_t low, char32_t high) {
  return c >= low && c <= high;
}

bool is_silent(char32_t c) {
  return c == 0xAD || c == 0x034F || c == 0x061C || c == 0x180E || c == 0x200B || c == 0xFEFF ||
         between(c, 0x200E, 0x200F) || between(c, 0x202A, 0x202E) || between(c, 0x2060, 0x2064) ||
         between(c, 0x2066, 0x2069) || between(c, 0xFE00, 0xFE0F) || between(c, 0xFFF9, 0xFFFB) ||
         between(c, 0xE0000, 0xE007F);
}

// Whether the compatibility form is what is meant: letters and digits in another dress, units in
// one square (U+3371 on), "No", "TM" apart. Superscripts and fractions mean something else.
bool is_dress(char32_t c) {
  return between(c, 0xFF01, 0xFFE6) || between(c, 0xFB00, 0xFB06) || between(c, 0x1D400, 0x1D7FF) ||
         between(c, 0x24B6, 0x24E9) || between(c, 0x1F130, 0x1F149) || between(c, 0x3371, 0x33DF) ||
         between(c, 0x2460, 0x2473) || between(c, 0x2160, 0x2188) || c == 0x212A || c == 0x212B ||
         c == 0x2126 || c == 0x2103 || c == 0x2109 || c == 0xB5 || c == 0x2024 || c == 0x2025;
}

// Whether a small digit behind this text counts or numbers what stands there, as in formulas: a
// letter, a digit or a bracket, but for the base of "log₂".
bool is_counted_symbol(std::string_view before) {
  const char last = before.empty() ? ' ' : before.back();
  return !before.ends_with("log") && (is_ascii_letter(last) || is_ascii_digit(last) || last == ')');
}

// The letter that stands low in "x\u2099", "a\u1D62"; 0: it is none.
char32_t small_letter(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 17> kLetters = {{{0x2090, U'a'},
                                                                       {0x2091, U'e'},
                                                                       {0x2092, U'o'},
                                                                       {0x2093, U'x'},
                                                                       {0x2095, U'h'},
                                                                       {0x2096, U'k'},
                                                                       {0x2097, U'l'},
                                                                       {0x2098, U'm'},
                                                                       {0x2099, U'n'},
                                                                       {0x209A, U'p'},
                                                                       {0x209B, U's'},
                                                                       {0x209C, U't'},
                                                                       {0x1D62, U'i'},
                                                                       {0x1D63, U'r'},
                                                                       {0x1D64, U'u'},
                                                                       {0x1D65, U'v'},
                                                                       {0x2C7C, U'j'}}};
  const auto* const found =
      std::ranges::find(kLetters, c, [](const auto& letter) { return letter.first; });
  return found == kLetters.end() ? 0 : found->second;
}

// Accents between letters were meant to be apostrophes: don\u00B4t, won`t.
bool is_letter_end(std::string_view before) {
  return !before.empty() && (is_ascii_letter(before.back()) || (before.back() & 0x80) != 0);
}

bool is_letter_begin(std::string_view behind) {
  return !behind.empty() && is_letter(next_code_point(behind).code_point);
}

char32_t plain(char32_t c) {
  switch (c) {
    case 0x2018:
    case 0x2019:
    case 0x201B:
    case 0x02BC:
    case 0x2032:
      return U'\'';
    case 0x2010:
    case 0x2011:
    case 0xFE63:
      return U'-';
    case 0x201E:
    case 0x00AB:
    case 0x2039:
      return 0x201C;
    case 0x00BB:
    case 0x203A:
    case 0x2033:
      return c == 0x2033 ? U'"' : 0x201D;
    case 0x2012:
    case 0x2013:
      return 0x2013;
    case 0x2014:
    case 0x2015:
      return 0x2014;
    case 0x2044:
    case 0x2215:
      return U'/';
    case 0x22C5:
      return 0xB7;
    default:
      return c;
  }
}

}  // namespace

CanonicalText to_canonical(std::string_view source) {
  CanonicalText canonical;
  canonical.text.reserve(source.size());
  canonical.source.reserve(source.size() + 1);
  const auto put = [&](char32_t c, size_t at) {
    const size_t before = canonical.text.size();
    append_utf8(canonical.text, c);
    canonical.source.insert(canonical.source.end(), canonical.text.size() - before,
                            static_cast<uint32_t>(at));
  };
  for (size_t at = 0; at < source.size();) {
    const Utf8Step step = next_code_point(source.substr(at));
    const char32_t c = step.code_point;
    if ((c == U'`' || c == 0xB4) && is_letter_end(canonical.text) &&
        is_letter_begin(source.substr(at + step.bytes))) {
      put(U'\'', at);
    } else if (!step.valid || c == kReplacementCharacter || c < 0x20 || between(c, 0x7F, 0x9F)) {
      put(c == U'\n' && step.valid ? U'\n' : U' ', at);
    } else if (c < 0x80) {
      put(c, at);
    } else if (is_silent(c)) {
      // Nothing is said for it.
    } else if (const std::optional<int> digit = decimal_digit(c)) {
      put(U'0' + static_cast<char32_t>(*digit), at);
    } else if (is_white_space(c)) {
      put(U' ', at);
    } else if (between(c, 0x2080, 0x2089) && is_counted_symbol(canonical.text)) {
      put(U'0' + (c - 0x2080), at);
    } else if (const char32_t letter = small_letter(c);
               letter != 0 && is_counted_symbol(canonical.text)) {
      for (const char32_t part : U" sub ") {
        if (part != 0) {
          put(part, at);
        }
      }
      put(letter, at);
    } else if (is_dress(c)) {
      for (const char32_t part : nfkc(std::u32string(1, c))) {
        put(plain(part), at);
      }
    } else {
      put(plain(c), at);
    }
    at += step.bytes;
  }
  canonical.source.push_back(static_cast<uint32_t>(source.size()));
  return canonical;
}

}  // namespace mynah
