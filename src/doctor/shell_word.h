// Words of commands that are printed.
#pragma once

#include <string>
#include <string_view>

namespace mynah::doctor {

// A text as one word of a shell's command, in quotes where it needs them.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace mynah::doctor
