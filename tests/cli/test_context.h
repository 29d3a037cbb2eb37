// Runs verbs with streams in memory.
#pragma once

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "cli/command/program.h"
#include "cli/command/verb.h"

namespace mynah::cli {

// Everything that a Context refers to.
struct TestProgram {
  explicit TestProgram(std::vector<Verb> table) : verbs(std::move(table)) {}

  [[nodiscard]] Context context() {
    return {.out = out,
            .err = err,
            .in = in,
            .environment = Environment(environment),
            .stop = stop.get_token(),
            .stopping_signal = [this] { return stop.stop_requested() ? SIGINT : 0; },
            .verbs = verbs,
            .verb = {},
            .json = false};
  }

  // Exit code of `mynah ARGUMENTS`.
  int run(const std::vector<std::string>& arguments) {
    Context made = context();
    return run_program(arguments, made);
  }

  std::vector<Verb> verbs;
  OutputStream out;
  OutputStream err;
  InputStream in{std::string()};
  std::map<std::string, std::string> environment = {{"HOME", "/nonexistent"}};
  std::stop_source stop;
};

}  // namespace mynah::cli
