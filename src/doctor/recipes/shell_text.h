// Commands as a shell would read them, far enough to see which packages they install: no command is
// ever run, and what a shell would have to run to know stays as it is written.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

// Puts values in place of $NAME, ${NAME}, ${NAME:-default}, ${NAME-default} and ${NAME:+other},
// once and not inside of values. Variables without a value, and forms that are not known, stay as
// they are; so do all where values would make the text longer by more than 16 KiB.
[[nodiscard]] std::string substituted(std::string_view text,
                                      const std::map<std::string, std::string>& values);

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
// writes, or sets variables for what follows.
[[nodiscard]] std::vector<ShellCommand> shell_commands(std::string_view text);

}  // namespace mynah::doctor
