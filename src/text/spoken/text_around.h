// What the sentence splitter asks about the text around a place. Each looks at a bounded number of
// bytes, so that no text takes more than its length in time.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

inline constexpr size_t kSpaceBytes = 64;  // of white space that are looked over
inline constexpr size_t kWordBytes = 32;   // of a word
inline constexpr size_t kMarkBytes = 8;    // of a line's beginning: "123. a" at the longest

[[nodiscard]] bool is_line_break(char32_t c);

// The word that begins at `at`: letters of any script and digits.
[[nodiscard]] std::string_view word_at(std::string_view text, size_t at);

// The word that ends at `end`, with the stops and hyphens inside it, not before `begin`.
[[nodiscard]] std::string_view word_before(std::string_view text, size_t begin, size_t end);

// "U.S.A", "e.g": letters with stops between them.
[[nodiscard]] bool are_single_letters(std::string_view dotted);

// "LL.B", "D.Phil": each part between stops begins with a capital.
[[nodiscard]] bool has_capital_parts(std::string_view dotted);

// The part of a word that its last stop belongs to: "Jan.-Mar" is two months, "12-in" a number and
// a measure. The word itself where a hyphen or dash joins it in another way.
[[nodiscard]] std::string_view last_abbreviated(std::string_view word);

// Whether a number ends at `end`, or before one or two spaces there, not before `begin`.
[[nodiscard]] bool is_number_before(std::string_view text, size_t begin, size_t end);

// Whether a line begins as a list's item: "1. ", "2) ", "- ", "* ", a bullet, a dash of a dialogue.
[[nodiscard]] bool is_list_mark(std::string_view line);

// White space from a place on.
struct Gap {
  size_t end = 0;
  int line_breaks = 0;
  bool paragraph = false;  // a blank line, a form feed or a paragraph separator
  bool full = false;       // the limit was reached
};

[[nodiscard]] Gap gap_at(std::string_view text, size_t at);

// Where the white space that ends at `end` begins, of any script, not before `begin`. Takes the
// length of that space in time.
[[nodiscard]] size_t gap_before(std::string_view text, size_t begin, size_t end);

}  // namespace mynah
