// What Python's str does, on UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/template/marked_text.h"

namespace mynah::jinja {

// Bytes of white space, as str.strip takes it, at a text's begin and end.
[[nodiscard]] size_t leading_space(std::string_view text);
[[nodiscard]] size_t trailing_space(std::string_view text);

[[nodiscard]] size_t count_code_points(std::string_view text);

// Where the code point of this index begins; the text's size from the last one on.
[[nodiscard]] size_t offset_of_code_point(std::string_view text, size_t index);

[[nodiscard]] std::string upper_case(std::string_view text);
[[nodiscard]] std::string lower_case(std::string_view text);

// str.isupper and str.islower: all letters that have a case are of it, and there is one.
[[nodiscard]] bool is_of_case(std::string_view text, bool upper);

// str.capitalize and str.title.
[[nodiscard]] MarkedText capitalized(const MarkedText& text);
[[nodiscard]] MarkedText titled(const MarkedText& text);

// str.replace, at most `count` times; a negative one: all.
[[nodiscard]] MarkedText replaced(const MarkedText& text, std::string_view old,
                                  const MarkedText& by, long long count = -1);

// markupsafe.escape: & < > " ' as entities.
[[nodiscard]] MarkedText escaped(const MarkedText& text);

// repr() of a float: the shortest digits that are read back as it.
[[nodiscard]] std::string float_text(double value);

// repr() of a str, in quotes.
[[nodiscard]] MarkedText quoted(const MarkedText& text);

}  // namespace mynah::jinja
