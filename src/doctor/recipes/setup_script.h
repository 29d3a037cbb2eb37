// What a setup.py hands to setup(), as far as it stands there as plain text: the file is a program,
// and is not run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::doctor {

// A text of the file, and the line that it stands on.
struct SetupText {
  std::string_view text;
  uint64_t line = 0;
};

// What one extra asks for.
struct SetupExtra {
  SetupText name;
  std::vector<SetupText> requirements;
};

// The arguments of setup() that say what a project asks for. Views are of the text that was read.
struct SetupArguments {
  std::vector<SetupText> install_requires;
  std::vector<SetupExtra> extras_require;
  uint64_t unread_extras = 0;  // line of an extras_require that is no plain table; 0: all is read
  std::optional<SetupText> python_requires;
};

// Reads the one call of setup() in a file of Python. Refused with the reason, in words that follow
// the file's name, where it is not plain what install_requires comes to: several calls or none, a
// value that is no list of texts, arguments that come from elsewhere.
[[nodiscard]] Result<SetupArguments> read_setup_call(std::string_view text);

}  // namespace mynah::doctor
