// The steps that both normalisers take, on code points. Patterns in comments are Python's, as the
// reference writes them; each function gives what re.sub gives with that pattern.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// [<\[][^>\]]*[>\]] and \(([^)]+?)\) removed: what stands in brackets was not said.
[[nodiscard]] std::u32string remove_bracketed(std::u32string_view text);

// Symbols, punctuation and marks become spaces in the NFKC form; marks stay with preserve_marks.
[[nodiscard]] std::u32string remove_symbols(std::u32string_view text, bool preserve_marks);

// The same in the NFKD form, where accents are dropped and letters such as "ø" are spelt in ASCII.
// Characters of `keep` stay.
[[nodiscard]] std::u32string remove_symbols_and_diacritics(std::u32string_view text,
                                                           std::u32string_view keep);

// \s+ becomes one space.
[[nodiscard]] std::u32string collapse_spaces(std::u32string_view text);

// str.split(): runs of what is not space.
[[nodiscard]] std::vector<std::u32string> split_words(std::u32string_view text);

}  // namespace mynah
