// A tool that is a command of the user's: the arguments on its standard input, what it writes to
// its standard output is the answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "talk/tools/tool.h"

namespace mynah::talk {

// `words`: the program and its arguments. Standard error is the terminal's. People are shown the
// command, and what it gets.
[[nodiscard]] std::shared_ptr<Tool> make_command_tool(ToolFacts facts,
                                                      std::vector<std::string> words);

}  // namespace mynah::talk
