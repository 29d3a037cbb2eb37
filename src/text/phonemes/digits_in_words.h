// Digits that were left in a text, in English words: "MP3", "B2B", a year. What normalisation knows
// of numbers it has put into words before; this is so that none is ever lost. The choices (year,
// digit by digit, dollars and cents) are those of misaki 0.9.4, Lexicon.get_number.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace mynah {

struct NumberWord {
  enum class Form { Plain, Unstressed, Plural };

  std::u32string_view word;
  Form form = Form::Plain;
};

struct NumberContext {
  char32_t currency = U'\0';  // $, £ or € that stood before it
  bool begins_word = true;    // not the 3 of MP3
};

// Digits with commas and dots, perhaps a minus before them where they begin a word; `ordinal`: st,
// nd, rd or th follows them. Empty where there is no digit.
[[nodiscard]] std::vector<NumberWord> words_of_digits(std::u32string_view number, bool ordinal,
                                                      const NumberContext& context);

// "dollar" for $; empty for what is no sign of these currencies.
[[nodiscard]] std::u32string_view unit_of_currency(char32_t sign);

}  // namespace mynah
