// Marks of Markdown and HTML at one place of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah {

// A link's text or target that is longer is text.
inline constexpr size_t kLongestLink = 500;

// "---", "***", "===": a rule, or the line below a heading.
[[nodiscard]] bool is_rule(std::string_view line);

// The fence at the begin of a code block's first line, three backticks or tildes at least; empty
// where there is none.
[[nodiscard]] std::string_view fence_of(std::string_view line);

// The length of "- ", "* ", "+ " with the box of a task behind it; 0 where there is none.
[[nodiscard]] size_t bullet_length(std::string_view text);

// "1. " and "2) ".
[[nodiscard]] bool is_numbered(std::string_view text);

// "[^1]: ...": the definition of a footnote (GitHub, pandoc).
[[nodiscard]] bool is_note(std::string_view line);

// "[name]: https://..." with or without a title in quotes: where a link leads (CommonMark
// 0.31, 4.7).
[[nodiscard]] bool is_link_definition(std::string_view line);

// The first attribute of what is left of a tag behind its name, which it is taken from: its name as
// written, and its value without quotes. False where none is left.
[[nodiscard]] bool next_attribute(std::string_view& rest, std::string_view& name,
                                  std::string_view& value);

// The value of an attribute of a tag; empty where there is none. `name` is in small letters.
[[nodiscard]] std::string_view attribute_of(std::string_view tag, std::string_view name);

// Where the bracket at the begin closes; npos where it does not, 0 where more of the text is needed
// and it is not all there is.
[[nodiscard]] size_t closing_bracket(std::string_view text, bool final);

}  // namespace mynah
