#include "text/documents/raised.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah {

std::optional<std::string> raised(std::string_view text) {
  constexpr std::string_view kPlain = "0123456789+-n";
  constexpr std::u32string_view kRaised =
      U"\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078"
      U"\u2079\u207A\u207B\u207F";
  std::string result;
  for (const char32_t c : to_code_points(text)) {
    const size_t at = c == U'\u2212' ? kPlain.find('-')
                      : c < 0x80     ? kPlain.find(static_cast<char>(c))
                                     : std::string_view::npos;
    if (at == std::string_view::npos) {
      return std::nullopt;
    }
    append_utf8(result, kRaised[at]);
  }
  return result;
}

char raised_digit(char32_t c) {
  constexpr std::u32string_view kRaised =
      U"\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079";
  const size_t at = kRaised.find(c);
  return at == std::u32string_view::npos ? '\0' : static_cast<char>('0' + at);
}

bool takes_powers(std::string_view text) {
  constexpr size_t kFar = 16;  // the longest of the units, and more
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < kFar && is_ascii_letter(text[begin - 1])) {
    --begin;
  }
  constexpr std::array<std::string_view, 5> kUnits = {"meters", "metres", "feet", "inches",
                                                      "miles"};
  constexpr size_t kShort = 4;
  const std::string_view word = text.substr(begin);
  const bool of_word =
      !word.empty() && begin > 0 && static_cast<unsigned char>(text[begin - 1]) >= 0x80;
  const bool joined = !text.empty() && (is_ascii_letter(text.back()) ||
                                        is_ascii_digit(text.back()) || text.back() == ')');
  return joined && !of_word &&
         (word.size() < kShort || std::ranges::find(kUnits, word) != kUnits.end());
}

}  // namespace mynah
