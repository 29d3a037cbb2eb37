// A command in a process group of its own, whose threads and children can be looked at: ptrace(2),
// as strace uses it. Nothing of it is left behind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/process.h"
#include "base/result.h"
#include "doctor/watch/process_view.h"

namespace mynah::doctor {

// The registers of a thread, the program's counter among them.
struct Registers {
  uint64_t counter = 0;
  uint64_t stack = 0;
  std::vector<uint64_t> others;  // without flags
};

// Where a process was when a signal came that ends it.
struct FatalSignal {
  pid_t process = 0;
  pid_t thread = 0;
  int signal = 0;
  CodePlace at;
  std::vector<CodePlace> callers;
};

// All calls come from the thread that started it, which may have no other children that end.
class TracedChild {
 public:
  struct Spec {
    std::string program;                 // a path
    std::vector<std::string> arguments;  // after the program's name
    std::vector<std::string> environment;
  };

  // Standard input is that of this process; if that is a terminal, the child is given it. Where the
  // system lets nobody trace, the child runs all the same, and less is known of it.
  static Result<TracedChild> start(const Spec& spec);

  TracedChild(TracedChild&&) noexcept;
  TracedChild& operator=(TracedChild&&) = delete;
  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;
  // Kills all of it.
  ~TracedChild();

  [[nodiscard]] pid_t pid() const;
  [[nodiscard]] bool traced() const;

  // Its standard output and error; to be read until their end.
  [[nodiscard]] UniqueFd& out();
  [[nodiscard]] UniqueFd& err();

  // Readable when there is something to attend to.
  [[nodiscard]] int events() const;

  // Lets every thread that stopped go on. Called when events() is readable, and now and then.
  void attend();

  // How the command ended; none while it runs.
  [[nodiscard]] const std::optional<ProcessEnd>& end() const;

  // The processor time that it and the children it waited for used, as the kernel told at its end;
  // 0 while it runs.
  [[nodiscard]] double processor_s() const;

  // What it still runs: the command and what it started.
  [[nodiscard]] std::vector<pid_t> processes() const;

  // The last signal that ended one of its processes, as far as it was seen.
  [[nodiscard]] const std::optional<FatalSignal>& fatal() const;

  // Stops a thread for a moment and reads its registers. None where it cannot be stopped: it waits
  // inside of the kernel, ended, or is not traced.
  [[nodiscard]] std::optional<Registers> look_at(pid_t thread);

  // To its process group, and to all processes that left that.
  void kill(int signal);

 private:
  struct State;
  explicit TracedChild(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace mynah::doctor
