// The patterns of text that the English number normaliser rewrites before and after it reads
// numbers. Patterns in comments are Python's, as the reference writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

// ([a-z])([0-9]) and ([0-9])([a-z]): a space between.
[[nodiscard]] std::u32string part_letters_from_digits(std::u32string_view text);

// ([0-9])\s+(st|nd|rd|th|s)\b: the space removed.
[[nodiscard]] std::u32string attach_suffixes(std::u32string_view text);

// ([€£$])([0-9]+) (?:and )?¢([0-9]{1,2})\b: "$2 and ¢7" becomes "$2.07".
[[nodiscard]] std::u32string combine_cents(std::u32string_view text);

// [€£$]0.([0-9]{1,2})\b: "$0.07" becomes "¢7". The dot is any character, as in the reference.
[[nodiscard]] std::u32string extract_cents(std::u32string_view text);

// \b1(s?)\b: "one" and "ones" read better.
[[nodiscard]] std::u32string spell_one(std::u32string_view text);

// \band\s+a\s+half\b: where it ends if it begins at `at`; else 0.
[[nodiscard]] size_t half_end(std::u32string_view text, size_t at);

}  // namespace mynah
