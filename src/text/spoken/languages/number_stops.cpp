#include "text/spoken/languages/number_stops.h"

#include <algorithm>

#include "text/spoken/characters.h"
#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/languages/number_scan.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// Longer than any short form of ours.
constexpr size_t kLongestForm = 24;

// "oct." of "3 oct. 2024"
bool is_short_month(const LanguageNumbers& numbers, std::string_view word) {
  const auto month = numbers.month_of.find(word);
  return month != numbers.month_of.end() &&
         std::ranges::none_of(numbers.months,
                              [word](const std::string& name) { return folded(name) == word; });
}

// Whether a key of the map ends with the stop, whole.
template <class Map>
bool ends_with_key(std::string_view text, size_t stop, const Map& map) {
  const size_t most = std::min(kLongestForm, stop + 1);
  for (size_t length = 2; length <= most; ++length) {
    const size_t begin = stop + 1 - length;
    if (map.find(text.substr(begin, length)) != map.end() && is_border_before(text, begin)) {
      return true;
    }
  }
  return false;
}

// "am 3.10. kam er": two numbers of a date, the second with the stop.
bool ends_date(std::string_view text, size_t stop) {
  size_t at = stop;
  int numbers = 0;
  while (numbers < 2) {
    const size_t end = at;
    while (at > 0 && is_ascii_digit(text[at - 1]) && end - at < 3) {
      --at;
    }
    if (end == at || end - at > 2) {
      return false;
    }
    ++numbers;
    if (numbers == 1) {
      if (at == 0 || text[at - 1] != '.') {
        return false;
      }
      --at;
    }
  }
  return is_border_before(text, at);
}

}  // namespace

bool is_stop_at_number(std::string_view language, std::string_view text, size_t stop, size_t next) {
  const LanguageNumbers* const numbers = language_numbers(language);
  if (numbers == nullptr || next >= text.size()) {
    return false;
  }
  const bool digit = is_ascii_digit(text[next]);
  const bool small = is_lower_case(next_code_point(text.substr(next)).code_point);
  if (digit) {
    return ends_with_key(text, stop, numbers->before) ||
           ends_with_key(text, stop, numbers->units) ||
           ends_with_key(text, stop, numbers->currency_signs) ||
           is_short_month(*numbers, folded(word_before(text, stop)));
  }
  const bool counted = small || longest_key(text, next, numbers->currencies) > 0 ||
                       longest_key(text, next, numbers->currency_signs) > 0;
  if (ends_with_key(text, stop, numbers->magnitudes)) {
    return counted;
  }
  return small && (ends_with_key(text, stop, numbers->year_short) ||
                   ends_with_key(text, stop, numbers->years_short) ||
                   ends_with_key(text, stop, numbers->units) ||
                   ends_with_key(text, stop, numbers->currency_signs) ||
                   (numbers->ordinal_stop && ends_date(text, stop)));
}

}  // namespace mynah
