// Text from outside, as a model's, as it is shown in a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mynah::cli {

// UTF-8 without its control characters but for line ends and tabs: the others are commands to a
// terminal.
[[nodiscard]] std::string shown_text(std::string_view text);

}  // namespace mynah::cli
