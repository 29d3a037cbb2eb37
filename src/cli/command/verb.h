// Verbs: what `mynah NAME` can do. A verb is a Command: its options as members, listed once in
// fields(), and run(). program.h parses, then runs it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "cli/command/fields.h"
#include "cli/command/stream.h"

namespace mynah::cli {

struct Verb;

// What a verb is handed: made in main, or by a test.
struct Context {
  OutputStream& out;  // results, nothing else
  OutputStream& err;  // progress, notes, errors
  InputStream& in;
  Environment environment;
  std::stop_token stop;                  // requested by SIGINT, SIGTERM, SIGHUP
  std::function<int()> stopping_signal;  // which one: 0 while there was none
  std::span<const Verb> verbs;

  std::string verb;   // the one that runs
  bool json = false;  // --json: results as JSON on stdout, one object a line

  // Takes what is said where stop was requested and the verb goes on; {}: nothing more.
  std::function<void(std::function<void()>)> take_when_late = {};

  // A line for the user on stderr: "mynah: TEXT". From any thread.
  void say(std::string_view text) const;

  // The same about a file, whose name is put in front where the text does not begin with it; "-" is
  // called standard input.
  void say_of(std::string_view file, std::string_view text) const;

  // The exit code of work that `stop` ended: 128 + the signal, as shells count.
  [[nodiscard]] int stopped_exit_code() const;
};

// A verb's options and what it does with them. Made anew for each run.
class Command {
 public:
  virtual ~Command() = default;

  // Lists the options, bound to members whose values are the defaults. --help and --json are
  // there already.
  virtual void fields(Fields& fields) = 0;

  // Does the work; returns the exit code. An error is printed by the caller as one line.
  virtual Result<int> run(Context& context) = 0;

  // Rewrites flags of other programs before they are parsed into `fields`, which tell mynah's own
  // options, whose values are no flags.
  virtual Result<std::vector<std::string>> translate(std::vector<std::string> arguments,
                                                     const Fields& /*fields*/) {
    return arguments;
  }

  // What --help and the man page say below the options.
  [[nodiscard]] virtual std::string details() const { return {}; }
};

// One row of main's table.
struct Verb {
  std::string name;
  std::string help;  // one line
  std::function<std::unique_ptr<Command>()> make;
};

// A row for a Command that can be made from nothing.
template <class C>
Verb verb(std::string name, std::string help) {
  return {std::move(name), std::move(help), [] { return std::make_unique<C>(); }};
}

}  // namespace mynah::cli
