// Commands as a shell would read them, far enough to see which packages they install: no command is
// ever run, and what a shell would have to run to know stays as it is written.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

struct ShellCommand {
  std::map<std::string, std::string> variables;  // set for it alone: "NAME=value command"
  std::vector<std::string> words;
  std::vector<std::string> written;  // files that its output goes to
  bool piped = false;                // or it goes into the next command
  // It may run or not, or fail without ending all: one of "a || b", behind a test and "&&", in a
  // condition or a loop.
  bool doubtful = false;
};

// Commands of a line or script: cut at newlines, ;, &, |, &&, || and brackets outside of quotes,
// without the words of conditions and loops ("if", "then", "do"). One without words only
// writes, or sets variables for what follows. `values` of variables, and those that the text sets
// for sure, are put in their places; what does not run by a test of them is left out, and what does
// is not doubtful. A script that a shell is given in a word ("bash -c") stays as it is.
[[nodiscard]] std::vector<ShellCommand> shell_commands(
    std::string_view text, std::map<std::string, std::string> values = {});

}  // namespace mynah::doctor
