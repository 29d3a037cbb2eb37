// What people write as it sounds: "Nooooo", "Sooo goood", "Brrr", "Shh".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// A sound that is no word, by data/interjections.tsv: "shhh", "hmmm". None for what has no letter
// twice and a vowel, and for letters in capitals.
[[nodiscard]] std::optional<std::u32string_view> interjection(std::u32string_view word,
                                                              bool british);

// Words that a word with a letter three times or more might be, the longest first: "goood" is
// "good" or "god". Empty for others.
[[nodiscard]] std::vector<std::u32string> unstretched(std::u32string_view word);

}  // namespace mynah
