// Text from outside, as a model's, as it is shown in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah::cli {

// UTF-8 without its control characters but for line ends and tabs: the others are commands to a
// terminal.
[[nodiscard]] std::string shown_text(std::string_view text);

// A text, or its first `most` bytes with a sign that there is more.
[[nodiscard]] std::string beginning_of(std::string_view text, size_t most);

// What a memory reminded a model of, in a line for people.
[[nodiscard]] std::string recalled_line(std::string_view day, std::string_view text);

}  // namespace mynah::cli
