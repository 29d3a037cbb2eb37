// What belongs to no word at a piece of text's ends and inside it: quotes, brackets, marks, units
// after numbers, the dash between words. spaCy's English rules for a Latin alphabet, as hibari-tts
// 0.2.1 (g2p/tokenize.py) has them.
#pragma once

#include <optional>
#include <string_view>

namespace mynah {

// How many characters at the start are cut off in one step; 0: none.
[[nodiscard]] size_t prefix_length(std::u32string_view text);

// How many at the end: the most that any rule takes.
[[nodiscard]] size_t suffix_length(std::u32string_view text);

// A place inside a piece of text where it is cut.
struct Infix {
  size_t at = 0;
  size_t length = 0;
};

// The first one that begins at or after `from`.
[[nodiscard]] std::optional<Infix> next_infix(std::u32string_view text, size_t from);

// An address of the web or of mail, which is one word.
[[nodiscard]] bool is_address(std::u32string_view text);

}  // namespace mynah
