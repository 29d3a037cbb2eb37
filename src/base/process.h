// Child processes: started with chosen descriptors and nothing else, waited for with a deadline,
// never left behind.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mynah {

// Both ends of a pipe; neither is inherited by a child unless it is handed over.
struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;

  static Result<Pipe> create();
};

// Whom a terminal's Ctrl-C reaches.
enum class ProcessGroup {
  Ours,  // the child as well as this process
  Own,   // this process alone; Process::kill then reaches whatever the child started, too
};

// What to start.
struct ProcessSpec {
  std::string program;                 // a path; see find_program
  std::string name{};                  // that it is told to have; "": the program's path
  std::vector<std::string> arguments;  // after the program's name
  // {ours, theirs}: the child finds a copy of our descriptor under their number. Its numbers 0 to 2
  // are /dev/null where they are not named; it inherits no other.
  std::vector<std::pair<int, int>> descriptors;
  std::vector<std::string> environment;  // "NAME=value"; see inherited_environment
  ProcessGroup group = ProcessGroup::Ours;
};

// The path of the program that a shell would start for this name: the name itself where it has a
// slash, else the first of that name in the folders of PATH. None where there is no such program.
std::optional<std::string> find_program(const std::string& name);

// This process's own environment, for a child that needs it (proxies, certificates, HOME).
std::vector<std::string> inherited_environment();

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  // 0: it exited by itself

  [[nodiscard]] bool ok() const { return exit_code == 0 && signal == 0; }
};

// A running child. Killed and reaped when this goes; one that does not end by that within seconds
// is left to the system.
class Process {
 public:
  // Errors: NotFound where the program is missing, Io otherwise.
  static Result<Process> spawn(const ProcessSpec& spec);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }

  // Sends a signal; nothing where it has ended. From any thread where the child's group is Ours,
  // also while another waits for its end.
  void kill(int signal);

  // Waits until the process ends, at most `limit` where one is given; none: it still runs. Once
  // ended, the answer stays the same.
  Result<std::optional<ProcessEnd>> wait(std::optional<std::chrono::milliseconds> limit);

 private:
  Process(pid_t pid, UniqueFd pidfd, ProcessGroup group)
      : pid_(pid), pidfd_(std::move(pidfd)), group_(group) {}

  Result<ProcessEnd> reap();

  pid_t pid_ = -1;
  UniqueFd pidfd_;  // readable once the process has ended
  ProcessGroup group_ = ProcessGroup::Ours;
  std::optional<ProcessEnd> end_;
};

// Waits until `fd` can be read or is at its end, at most `limit` where one is given; false: the
// time is over. Cancelled once stop is requested, whatever there is to read.
Result<bool> wait_readable(int fd, std::optional<std::chrono::milliseconds> limit,
                           const std::stop_token& stop = {});

}  // namespace mynah
