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
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "doctor/watch/sockets.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

// Of a stack, this much is looked at.
constexpr size_t kStackBytes = 64 << 10;
constexpr size_t kMostProcesses = 4096;

// How a call names the descriptors that it waits for.
enum class Names : uint8_t {
  None,
  File,    // the first argument
  Poll,    // an array of pollfd
  Select,  // sets of bits
  Epoll,   // those that a descriptor of epoll has
};

struct CallName {
  long number;
  std::string_view name;
  Names names;
};

// Calls that programs wait in.
constexpr CallName kCalls[] = {
    {SYS_ioctl, "ioctl", Names::File},
    {SYS_read, "read", Names::File},
    {SYS_write, "write", Names::File},
    {SYS_readv, "readv", Names::File},
    {SYS_writev, "writev", Names::File},
    {SYS_pread64, "pread64", Names::File},
    {SYS_recvfrom, "recvfrom", Names::File},
    {SYS_recvmsg, "recvmsg", Names::File},
    {SYS_sendto, "sendto", Names::File},
    {SYS_sendmsg, "sendmsg", Names::File},
    {SYS_accept, "accept", Names::File},
    {SYS_accept4, "accept4", Names::File},
    {SYS_connect, "connect", Names::File},
    {SYS_fsync, "fsync", Names::File},
    {SYS_flock, "flock", Names::File},
    {SYS_fcntl, "fcntl", Names::File},
    {SYS_openat, "openat", Names::None},
    {SYS_futex, "futex", Names::None},
    {SYS_ppoll, "ppoll", Names::Poll},
    {SYS_pselect6, "pselect6", Names::Select},
    {SYS_epoll_pwait, "epoll_pwait", Names::Epoll},
    {SYS_nanosleep, "nanosleep", Names::None},
    {SYS_clock_nanosleep, "clock_nanosleep", Names::None},
    {SYS_wait4, "wait4", Names::None},
    {SYS_waitid, "waitid", Names::None},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", Names::None},
    {SYS_rt_sigsuspend, "rt_sigsuspend", Names::None},
    {SYS_sched_yield, "sched_yield", Names::None},
    {SYS_munmap, "munmap", Names::None},
    {SYS_mmap, "mmap", Names::None},
    {SYS_io_getevents, "io_getevents", Names::None},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", Names::Epoll},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", Names::Poll},
    {SYS_select, "select", Names::Select},
    {SYS_pause, "pause", Names::None},
    {SYS_epoll_wait, "epoll_wait", Names::Epoll},
#endif
};

std::string read_memory(pid_t process, uint64_t address, size_t bytes) {
  std::string memory(bytes, '\0');
  const iovec ours{.iov_base = memory.data(), .iov_len = memory.size()};
  const iovec theirs{.iov_base = reinterpret_cast<void*>(address),  // NOLINT: of another process
                     .iov_len = memory.size()};
  const ssize_t got = ::process_vm_readv(process, &ours, 1, &theirs, 1, 0);
  memory.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return memory;
}

constexpr size_t kMostWaitedFor = 1024;

// The descriptors of a call, by its first two arguments.
std::vector<int> descriptors(pid_t process, Names names, uint64_t first, uint64_t second) {
  std::vector<int> found;
  if (names == Names::File) {
    found.push_back(static_cast<int>(first));
  } else if (names == Names::Poll) {
    const size_t count = std::min<uint64_t>(second, kMostWaitedFor);
    const std::string memory = read_memory(process, first, count * sizeof(pollfd));
    for (size_t at = 0; at + sizeof(pollfd) <= memory.size(); at += sizeof(pollfd)) {
      pollfd entry{};
      std::memcpy(&entry, memory.data() + at, sizeof(entry));
      if (entry.fd >= 0) {
        found.push_back(entry.fd);
      }
    }
  } else if (names == Names::Select) {
    // Of the sets, the one of what is to be read.
    const size_t count = std::min<uint64_t>(first, kMostWaitedFor);
    const std::string memory = read_memory(process, second, (count + 7) / 8);
    for (size_t bit = 0; bit < count && bit / 8 < memory.size(); ++bit) {
      if ((static_cast<unsigned char>(memory[bit / 8]) >> (bit % 8) & 1U) != 0) {
        found.push_back(static_cast<int>(bit));
      }
    }
  } else if (names == Names::Epoll) {
    std::istringstream info(proc_text(fmt::format("/proc/{}/fdinfo/{}", process, first)));
    for (std::string word; info >> word && found.size() < kMostWaitedFor;) {
      if (int descriptor = -1; word == "tfd:" && info >> descriptor) {
        found.push_back(descriptor);
      }
    }
  }
  return found;
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
  const uint64_t first = number(fields[1]).value_or(0);
  const uint64_t second = number(fields[2]).value_or(0);
  view.waits_for = descriptors(process, known->names, first, second);
  if (known->names != Names::File || view.waits_for.empty()) {
    return;
  }
  std::string file = file_of(process, view.waits_for.front());
  if (socket_inode(file) != 0) {
    file = file_words(file, sockets_of(process));
  }
  if (!file.empty()) {
    view.system_call += " on " + file;
  }
}

uint64_t milliseconds_of(uint64_t ticks) {
  static const auto per_second = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return ticks * 1000 / per_second;
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

std::string file_of(pid_t process, int descriptor) {
  std::error_code error;
  const fs::path target =
      fs::read_symlink(fmt::format("/proc/{}/fd/{}", process, descriptor), error);
  return error ? std::string() : target.string();
}

std::string proc_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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
  const auto stat = parse_stat(proc_text(folder + "stat"));
  if (!stat) {
    return std::nullopt;
  }
  ThreadView view;
  view.name = stat->name;
  view.state = stat->state;
  view.processor_ms = milliseconds_of(stat->ticks);
  if (const std::string function = proc_text(folder + "wchan"); function != "0") {
    view.waits_in = function;
  }
  read_call(process, proc_text(folder + "syscall"), view);
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
      std::istringstream children(
          proc_text(fmt::format("/proc/{}/task/{}/children", next, thread)));
      for (pid_t child = 0; children >> child;) {
        found.push_back(child);
        left.push_back(child);
      }
    }
  }
  return found;
}

std::optional<pid_t> process_of(pid_t thread) {
  std::istringstream status(proc_text(fmt::format("/proc/{}/status", thread)));
  for (std::string word; status >> word;) {
    if (word == "Tgid:") {
      pid_t process = 0;
      return status >> process ? std::optional(process) : std::nullopt;
    }
  }
  return std::nullopt;
}

uint64_t processor_ms_of(pid_t process) {
  const auto stat = parse_stat(proc_text(fmt::format("/proc/{}/stat", process)));
  return stat ? milliseconds_of(stat->ticks) : 0;
}

std::vector<Mapping> mappings_of(pid_t process) {
  return parse_maps(proc_text(fmt::format("/proc/{}/maps", process)));
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
