// The program: finds the verb, fills its options, runs it, turns errors into a line and an exit
// code.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

// The exit code of a process whose stdout was closed by its reader: as a shell counts SIGPIPE.
inline constexpr int kClosedOutputExitCode = 128 + 13;

// Runs `mynah ARGUMENTS`. 0: good. 1: failed. 2: a command line or configuration that cannot be
// understood. 3: this machine lacks something. 129, 130, 143: ended by a closed
// terminal, Ctrl-C, SIGTERM. 141: the reader
// of stdout went away before there was nothing left to say.
int run_program(const std::vector<std::string>& arguments, Context& context);

// A command with its fields, the two that every verb has among them. `help` and `json` are bound to
// what is passed.
Fields fields_of(Command& command, bool& help, bool& json);

// A verb's options for texts about them, with the command whose members they are bound to.
struct DescribedVerb {
  std::unique_ptr<Command> command;
  bool help = false;
  bool json = false;
  Fields fields;
};

[[nodiscard]] std::unique_ptr<DescribedVerb> describe(const Verb& verb);

// Version and how the program was built.
[[nodiscard]] std::string version_text(bool json);

}  // namespace mynah::cli
