// What /proc tells of running processes and their threads: proc(5).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "doctor/watch/code_places.h"

namespace mynah::doctor {

// A whole file of /proc, none of which has a size; empty where it cannot be read.
[[nodiscard]] std::string proc_text(const std::string& path);

// A thread as its files in /proc/PID/task/TID show it.
struct ThreadView {
  std::string name;
  char state = '?';           // "R" runs, "S" sleeps, "D" sleeps and cannot be woken, "T" stopped
  uint64_t processor_ms = 0;  // user and system
  std::string waits_in;       // a function of the kernel; empty: not told
  std::string system_call;    // "ioctl on /dev/nvidia0"; empty: in none, or not told
  // Descriptors that the call waits for: one that it reads, accepts connections on or writes to,
  // those of poll, select and epoll, 1024 at most. Empty: it waits for none, or that was not told.
  std::vector<int> waits_for;
  std::optional<uint64_t> counter;  // of the program, where it is in a system call
  std::optional<uint64_t> stack;    // its pointer
};

// None where the thread is gone.
[[nodiscard]] std::optional<ThreadView> view_thread(pid_t process, pid_t thread);

// The fields of /proc/PID/stat that are used here.
struct StatLine {
  std::string name;
  char state = '?';
  uint64_t ticks = 0;  // user and system
};

// A name may hold blanks and parentheses. None where the text is no such line.
[[nodiscard]] std::optional<StatLine> parse_stat(std::string_view text);

// Threads of a process, the first of which is its main thread.
[[nodiscard]] std::vector<pid_t> threads_of(pid_t process);

// A process's children and theirs, as far as the kernel tells; without itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

// What a descriptor of a process stands for: a path, "pipe:[123]", "socket:[123]"; empty: unknown.
[[nodiscard]] std::string file_of(pid_t process, int descriptor);

// The process that a thread belongs to.
[[nodiscard]] std::optional<pid_t> process_of(pid_t thread);

// Milliseconds of processor time that a process used, its dead threads among them.
[[nodiscard]] uint64_t processor_ms_of(pid_t process);

[[nodiscard]] std::vector<Mapping> mappings_of(pid_t process);

// Callers of a thread that are worth looking for.
inline constexpr size_t kMostCallers = 12;

// Who called, by the words of a thread's stack: those that point behind a call of a function. Old
// words may be among them, so that this is no backtrace; the nearest are first, at most `most`, and
// one after the other never of the same function.
[[nodiscard]] std::vector<CodePlace> callers_of(pid_t process, uint64_t stack, CodePlaces& places,
                                                size_t most);

}  // namespace mynah::doctor
