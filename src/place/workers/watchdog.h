// Watchdog: whether a worker still works, judged by its pulse and by the time that it was given.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "place/workers/pulse.h"
#include "place/workers/step_limit.h"

namespace mynah::place {

// How often a worker beats, and is looked at.
inline constexpr std::chrono::milliseconds kBeat{20};

// A thread's state as the kernel tells it.
struct ThreadTimes {
  char state = '?';                          // 'R' runs or could, 'S' sleeps, 'T' was stopped
  std::chrono::nanoseconds waited_to_run{};  // since its begin: it could, but others had the cores
};

// Of /proc/PID/task/THREAD; none where there is no such thread or /proc is not there.
[[nodiscard]] std::optional<ThreadTimes> read_thread_times(pid_t process, pid_t thread);

// Times of all threads that the process has now.
[[nodiscard]] std::map<pid_t, ThreadTimes> read_process_times(pid_t process);

// What a watchdog sees of the machine. A test makes up its own.
struct WatchdogSenses {
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::function<std::map<pid_t, ThreadTimes>(pid_t process)> times = read_process_times;
};

// How much of its time a process could have computed and did not, since others had the cores.
class WaitedShare {
 public:
  // Counts from now on.
  explicit WaitedShare(pid_t process, WatchdogSenses senses = {});

  // Of that of its threads which waited longest, 0 to 1.
  [[nodiscard]] double until_now() const;

 private:
  pid_t process_;
  WatchdogSenses senses_;
  std::chrono::steady_clock::time_point begin_;
  std::map<pid_t, ThreadTimes> before_;
};

// Counts only time in which the worker could have worked: not what it waited for a core, or for its
// turn, while others had it, nor what passed while the watcher itself was not running (a busy
// machine, a suspended one). So a deadline stretches by the load that there is, and nobody is
// killed for it.
class Watchdog {
 public:
  // `step`: longest time between two operations; it is that of the stage which the pulse shows.
  Watchdog(pid_t process, const Pulse& pulse, const StepLimit& step, WatchdogSenses senses = {});

  // To be called every kBeat or so. Why the worker is given up, in words that have `where` in them
  // (" in stt.decoder"; "": nothing is known of that); none: it works.
  [[nodiscard]] std::optional<std::string> look(std::string_view where = {});

 private:
  // Time since a counter moved last, as far as its thread could have moved it.
  struct Silence {
    uint64_t seen = 0;
    std::chrono::nanoseconds counted{};

    void count(uint64_t now_seen, std::chrono::nanoseconds could_move);
  };

  // What each thread waited for a core since the last reading: the longest of all, and the one that
  // beats.
  struct Waits {
    std::chrono::nanoseconds longest{};
    std::chrono::nanoseconds beating{};
    bool starved = false;  // the one that beats could run, and does not
    bool stopped = false;  // by a signal, or a debugger
  };

  Waits read_waits();

  pid_t process_;
  const Pulse& pulse_;
  StepLimit step_;
  WatchdogSenses senses_;
  std::chrono::steady_clock::time_point last_look_;
  bool looked_ = false;
  std::map<pid_t, std::chrono::nanoseconds> waited_;  // of each thread, at the last reading
  Silence beats_;
  Silence steps_;
  std::chrono::nanoseconds stopped_{};  // without a break
};

}  // namespace mynah::place
