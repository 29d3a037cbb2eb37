// Runs a command and says what became of it: ended, crashed, hangs or is slow, and where.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/watch/traced_child.h"

namespace mynah::doctor {

enum class WatchEnd : uint8_t {
  Exited,   // by itself, whatever its exit code
  Crashed,  // a signal ended it
  Waits,    // hangs: it used no processor time and wrote nothing
  Spins,    // hangs: it goes round in one place, where nothing changes
  Slow,     // it computes
  Serves,   // it waits for connections, or for what others send to it
  Asks,     // it waits for what is typed or piped in: its standard input
  Stopped,  // whoever watched had enough, pressed Ctrl-C, or reads its output no more
};

// "exited", "crashed", "hangs" (Waits and Spins), "slow", "serves", "asks", "stopped".
[[nodiscard]] std::string_view end_name(WatchEnd end);

// Where a thread stood when the command was judged.
struct ThreadPlace {
  pid_t process = 0;
  pid_t thread = 0;
  std::string name;
  char state = '?';            // of proc(5): "R" runs, "S" sleeps, "D" sleeps and cannot be woken
  std::string waits_in;        // a function of the kernel; empty: not told
  std::string system_call;     // "ioctl on /dev/nvidia0"; empty: it ran, or that was not told
  std::vector<int> waits_for;  // descriptors, as ThreadView has them
  CodePlace at;
  // Functions of the program that are likely to have called, the nearest first: read from its
  // stack, on which old ones may be, too.
  std::vector<CodePlace> callers;
  double processor = 0;  // of the last seconds, the part that it ran: 1 is all the time
  int looks = 0;         // at a thread that runs: how often it was looked at,
  int looks_here = 0;    // and how often it was at `at`
  bool changes = true;   // whether its registers had other values each time
};

struct Watched {
  WatchEnd end = WatchEnd::Exited;
  int exit_code = 0;
  int signal = 0;          // 0: none
  double seconds = 0;      // that it was watched
  double quiet_s = 0;      // of these, since it wrote something last, or began
  double processor_s = 0;  // of all its processes, as far as they were seen
  bool traced = false;     // the system lets it be looked at
  // Where it listens, of one that serves: "127.0.0.1:8000"; of one that asks, what it reads:
  // "/dev/pts/0", "pipe:[123]".
  std::vector<std::string> waits_on;
  // Where it hangs, computes or crashed: the thread that matters first.
  std::vector<ThreadPlace> threads;
  std::string errors;  // the end of what it wrote to standard error, 64 KiB at most
};

struct WatchRequest {
  TracedChild::Spec command;
  // After this it is judged. One that was busy or wrote something a moment ago has twice the time.
  std::chrono::milliseconds limit{0};
  // Take what it writes, at once; false: nobody reads that any more.
  std::function<bool(std::string_view)> out;
  std::function<bool(std::string_view)> err;
  std::stop_token stop;
};

// Whatever becomes of the command, when this returns it and all that it started has ended (but for
// what the kernel holds in a driver). An error is one of starting it.
[[nodiscard]] Result<Watched> watch(const WatchRequest& request);

}  // namespace mynah::doctor
