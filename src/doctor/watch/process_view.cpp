#include "doctor/watch/process_view.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

// Of a stack, this much is looked at.
constexpr size_t kStackBytes = 64 << 10;
constexpr size_t kMostProcesses = 4096;

struct CallName {
  long number;
  std::string_view name;
  bool on_file;  // its first argument is a descriptor
};

// Calls that programs wait in.
constexpr CallName kCalls[] = {
    {SYS_ioctl, "ioctl", true},
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_pread64, "pread64", true},
    {SYS_recvfrom, "recvfrom", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "sendto", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true},
    {SYS_connect, "connect", true},
    {SYS_fsync, "fsync", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_openat, "openat", false},
    {SYS_futex, "futex", false},
    {SYS_ppoll, "ppoll", false},
    {SYS_pselect6, "pselect6", false},
    {SYS_epoll_pwait, "epoll_pwait", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_wait4, "wait4", false},
    {SYS_waitid, "waitid", false},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", false},
    {SYS_rt_sigsuspend, "rt_sigsuspend", false},
    {SYS_sched_yield, "sched_yield", false},
    {SYS_munmap, "munmap", false},
    {SYS_mmap, "mmap", false},
    {SYS_io_getevents, "io_getevents", false},
#ifdef SYS_poll
    {SYS_poll, "poll", false},
    {SYS_select, "select", false},
    {SYS_pause, "pause", false},
    {SYS_epoll_wait, "epoll_wait", false},
#endif
};

// A file of /proc has no size.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string file_of(pid_t process, uint64_t descriptor) {
  std::error_code error;
  const fs::path target =
      fs::read_symlink(fmt::format("/proc/{}/fd/{}", process, descriptor), error);
  return error ? std::string() : target.string();
}

// "16 0x3 0xc0104600 ... 0x7ffc5000 0x7f1234": the call's number, six arguments, the stack's and
// the program's pointer; "-1 SP PC" outside of a call, and "running".
void read_call(pid_t process, const std::string& text, ThreadView& view) {
  std::istringstream words(text);
  std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  if (fields.size() < 3) {
    return;
  }
  const auto number = [](const std::string& word) -> std::optional<uint64_t> {
    uint64_t value = 0;
    const char* begin = word.data() + (word.starts_with("0x") ? 2 : 0);
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value, 16);
    return error == std::errc() ? std::optional(value) : std::nullopt;
  };
  view.stack = number(fields[fields.size() - 2]);
  view.counter = number(fields.back());
  long call = -1;
  std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), call);
  if (call < 0) {
    return;
  }
  const auto* known = std::ranges::find(kCalls, call, &CallName::number);
  if (known == std::end(kCalls)) {
    view.system_call = fmt::format("system call {}", call);
    return;
  }
  view.system_call = known->name;
  if (const auto descriptor = number(fields[1]); known->on_file && descriptor) {
    if (const std::string file = file_of(process, *descriptor); !file.empty()) {
      view.system_call += " on " + file;
    }
  }
}

uint64_t milliseconds(uint64_t ticks) {
  static const auto per_second = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return ticks * 1000 / per_second;
}

std::string read_memory(pid_t process, uint64_t address, size_t bytes) {
  std::string memory(bytes, '\0');
  const iovec ours{.iov_base = memory.data(), .iov_len = memory.size()};
  const iovec theirs{.iov_base = reinterpret_cast<void*>(address),  // NOLINT: of another process
                     .iov_len = memory.size()};
  const ssize_t got = ::process_vm_readv(process, &ours, 1, &theirs, 1, 0);
  memory.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return memory;
}

// As much as there is from an address on: the end of a stack is the end of its pages.
std::string read_as_much(pid_t process, uint64_t address, size_t most) {
  constexpr uint64_t kPage = 4096;
  std::string memory;
  while (memory.size() < most) {
    const uint64_t at = address + memory.size();
    const std::string more = read_memory(process, at, kPage - at % kPage);
    if (more.empty()) {
      break;
    }
    memory += more;
  }
  return memory;
}

// Whether the instruction before an address is a call: then a word that points there is likely
// where a function returns to.
bool is_behind_call(pid_t process, uint64_t address) {
#if defined(__x86_64__)
  constexpr size_t kLongest = 7;
  if (address < kLongest) {
    return false;
  }
  const std::string code = read_memory(process, address - kLongest, kLongest);
  if (code.size() < kLongest) {
    return false;
  }
  const auto byte = [&](size_t before) {
    return static_cast<unsigned char>(code[kLongest - before]);
  };
  if (byte(5) == 0xE8) {  // CALL rel32
    return true;
  }
  // CALL r/m64: FF /2, with a register, or memory with no, a short or a long displacement.
  for (const size_t before : {2U, 3U, 4U, 6U, 7U}) {
    if (byte(before) == 0xFF && ((byte(before - 1) >> 3U) & 7U) == 2) {
      return true;
    }
  }
  return false;
#elif defined(__aarch64__)
  const std::string code = address < 4 ? std::string() : read_memory(process, address - 4, 4);
  if (code.size() < 4) {
    return false;
  }
  uint32_t word = 0;
  std::memcpy(&word, code.data(), sizeof(word));
  return (word >> 26U) == 0x25 || (word & 0xFFFFFC1FU) == 0xD63F0000U;  // BL, BLR
#else
  static_cast<void>(process);
  static_cast<void>(address);
  return false;
#endif
}

}  // namespace

std::optional<StatLine> parse_stat(std::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 2 >= text.size()) {
    return std::nullopt;
  }
  StatLine line;
  line.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest{std::string(text.substr(close + 2))};
  rest >> line.state;
  // utime and stime are fields 14 and 15; the state is field 3.
  std::string skipped;
  for (int field = 4; field < 14; ++field) {
    rest >> skipped;
  }
  uint64_t user = 0;
  uint64_t system = 0;
  rest >> user >> system;
  if (!rest) {
    return std::nullopt;
  }
  line.ticks = user + system;
  return line;
}

std::optional<ThreadView> view_thread(pid_t process, pid_t thread) {
  const std::string folder = fmt::format("/proc/{}/task/{}/", process, thread);
  const auto stat = parse_stat(text_of(folder + "stat"));
  if (!stat) {
    return std::nullopt;
  }
  ThreadView view;
  view.name = stat->name;
  view.state = stat->state;
  view.processor_ms = milliseconds(stat->ticks);
  if (const std::string function = text_of(folder + "wchan"); function != "0") {
    view.waits_in = function;
  }
  read_call(process, text_of(folder + "syscall"), view);
  return view;
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.push_back(thread);
  }
  std::ranges::sort(threads);
  const auto main = std::ranges::find(threads, process);
  if (main != threads.end()) {
    std::rotate(threads.begin(), main, main + 1);
  }
  return threads;
}

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found;
  std::vector<pid_t> left = {process};
  while (!left.empty() && found.size() < kMostProcesses) {
    const pid_t next = left.back();
    left.pop_back();
    for (const pid_t thread : threads_of(next)) {
      std::istringstream children(text_of(fmt::format("/proc/{}/task/{}/children", next, thread)));
      for (pid_t child = 0; children >> child;) {
        found.push_back(child);
        left.push_back(child);
      }
    }
  }
  return found;
}

std::optional<pid_t> process_of(pid_t thread) {
  std::istringstream status(text_of(fmt::format("/proc/{}/status", thread)));
  for (std::string word; status >> word;) {
    if (word == "Tgid:") {
      pid_t process = 0;
      return status >> process ? std::optional(process) : std::nullopt;
    }
  }
  return std::nullopt;
}

uint64_t processor_ms_of(pid_t process) {
  const auto stat = parse_stat(text_of(fmt::format("/proc/{}/stat", process)));
  return stat ? milliseconds(stat->ticks) : 0;
}

std::vector<Mapping> mappings_of(pid_t process) {
  return parse_maps(text_of(fmt::format("/proc/{}/maps", process)));
}

std::vector<CodePlace> callers_of(pid_t process, uint64_t stack, CodePlaces& places, size_t most) {
  std::vector<CodePlace> callers;
  const uint64_t aligned = stack & ~uint64_t{7};
  const std::string memory = read_as_much(process, aligned, kStackBytes);
  for (size_t at = 0; at + 8 <= memory.size() && callers.size() < most; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, memory.data() + at, sizeof(word));
    if (!places.is_code(word) || !is_behind_call(process, word)) {
      continue;
    }
    // The call itself, and not what follows, which may be another function.
    const CodePlace place = places.at(word - 1);
    if (callers.empty() || callers.back().library != place.library ||
        callers.back().symbol != place.symbol) {
      callers.push_back(place);
    }
  }
  return callers;
}

}  // namespace mynah::doctor
