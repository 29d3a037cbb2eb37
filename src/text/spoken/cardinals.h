// English numbers in words.
#pragma once

#include <string>
#include <string_view>

#include "text/spoken/spoken_text.h"

namespace mynah {

// "12" is "twelve". Digits only; leading zeros count for nothing. What has more than 36 digits is
// read digit by digit: it has no name that anybody knows.
[[nodiscard]] std::string cardinal_words(std::string_view digits, EnglishDialect dialect);

// The same by India's names: a lakh is 100,000, a crore 10,000,000. "1234567" is "twelve lakh
// thirty-four thousand five hundred sixty-seven".
[[nodiscard]] std::string indian_words(std::string_view digits, EnglishDialect dialect);

// "21" is "twenty-first".
[[nodiscard]] std::string ordinal_words(std::string_view digits, EnglishDialect dialect);

// The ordinal of words that name a cardinal: "twenty-one" is "twenty-first".
[[nodiscard]] std::string to_ordinal(std::string words);

// The plural: "ninety" is "nineties", "sixth" is "sixths".
[[nodiscard]] std::string to_plural(std::string words);

// "007" is "zero zero seven"; a comma every four digits where there are more than ten, for breath.
[[nodiscard]] std::string digit_words(std::string_view digits);

// "1905" is "nineteen oh five", "2007" "two thousand seven", "476" "four seventy-six". One to four
// digits.
[[nodiscard]] std::string year_words(std::string_view digits, EnglishDialect dialect);

// Rooms, roads, models: "101" is "one oh one", "747" "seven forty-seven", "4090" "forty ninety".
[[nodiscard]] std::string pair_words(std::string_view digits, EnglishDialect dialect);

}  // namespace mynah
