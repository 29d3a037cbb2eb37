// A number as written, with what makes it one: sign, groups, decimals, a fraction, "million".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "text/spoken/spoken_text.h"
#include "text/spoken/tokens.h"

namespace mynah {

struct Quantity {
  size_t end = 0;        // one past its last token
  std::string sign;      // "minus", "plus", "plus or minus" or nothing
  std::string whole;     // digits without their commas; empty in ".5" and "½"
  std::string decimals;  // behind the point
  std::string fraction;  // in words: "a half", "three quarters"
  std::string scale;     // "million"
  bool grouped = false;  // it was written with commas or spaces
  bool indian = false;   // in twos above the thousands: "12,34,567" is twelve lakh and so on

  // Exactly one, so that its unit is singular.
  [[nodiscard]] bool is_one() const {
    return decimals.empty() && scale.empty() &&
           (whole == "1" ? fraction.empty() : whole.empty() && fraction.starts_with("one "));
  }
};

// The number whose first token, its sign if it has one, is at `at`. Decimals end where another
// point and digit follow ("1.2.3" is no number). "1.000,50" and "1.234.567" are Europe's way to
// write one. Nothing where there is none.
[[nodiscard]] std::optional<Quantity> quantity_at(const Tokens& tokens, size_t at);

// Whether digits and stops at `at` are a number in Europe's writing ("1.234.567"), not a version's.
[[nodiscard]] bool is_dotted_amount(const Tokens& tokens, size_t at);

// The same with a decimal comma, as in "9,99 €": one or two digits behind it.
[[nodiscard]] std::optional<Quantity> quantity_with_decimal_comma(const Tokens& tokens, size_t at);

// "½" as words, with "one" before a half or not ("three and a half"); nothing for other characters.
[[nodiscard]] std::optional<std::string> vulgar_fraction_words(char32_t c, bool after_whole);

// "3/4" as words; what has no name is "22 over 107".
[[nodiscard]] std::string fraction_words(std::string_view numerator, std::string_view denominator,
                                         bool after_whole, EnglishDialect dialect);

// The number in words. Digits with a leading zero, and very long ones, are read one by one.
[[nodiscard]] std::string quantity_words(const Quantity& quantity, EnglishDialect dialect);

// "million" and the like behind a number, as a word or as "m", "bn", "k" where `letters` allows it;
// with the tokens that it takes. `at` is one past the number.
struct Scale {
  size_t end = 0;
  std::string_view word;
};

// Whether a word is one of several things: "people" and most words in -s. "1500 miles" is no year.
[[nodiscard]] bool is_counted(std::string_view word);

enum class ScaleLetters { Known, None };
[[nodiscard]] std::optional<Scale> scale_at(const Tokens& tokens, size_t at, ScaleLetters letters);

// A unit behind a number, at the token that follows it: "km", "km/h", "°C", "m²".
struct Unit {
  size_t end = 0;
  std::string words;
};

[[nodiscard]] std::optional<Unit> unit_at(const Tokens& tokens, size_t at, bool singular,
                                          EnglishDialect dialect);

// What stands below a stroke: "h", "kWh", "m²", "month".
[[nodiscard]] std::optional<Unit> divisor_unit_at(const Tokens& tokens, size_t at,
                                                  EnglishDialect dialect);

}  // namespace mynah
