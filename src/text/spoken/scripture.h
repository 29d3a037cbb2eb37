// Chapter and verse: "John 3:16", "Genesis 1:1-3", "1 Cor. 13:4-8".
#pragma once

#include <string_view>

namespace mynah {

// The book of the Bible that a capitalised word stands for, whole or cut short; empty: none. Short
// forms are those of the SBL Handbook of Style (2nd edition, 8.3) and a few older ones.
[[nodiscard]] std::string_view bible_book(std::string_view word);

// Whether the word is such a short form, whose stop ends no sentence before chapter and verse.
// `counted`: a number stands before it ("1 Sam."), without which some are people's names.
[[nodiscard]] bool is_short_bible_book(std::string_view word, bool counted);

}  // namespace mynah
