#include "doctor/watch/traced_child.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/exec_list.h"

namespace mynah::doctor {

namespace {

using Clock = std::chrono::steady_clock;

// Until a thread that was asked to stop counts as one that cannot.
constexpr std::chrono::milliseconds kStops{200};
// Until what was killed counts as held by the kernel.
constexpr std::chrono::milliseconds kEnds{5000};

// The end of the pipe that the handler of SIGCHLD writes to; -1: nobody waits.
std::atomic<int> child_event_end{-1};  // NOLINT: a handler of signals sees nothing else

void on_child_event(int /*signal*/) {
  const int saved = errno;
  const char byte = 0;
  if (const int fd = child_event_end.load(); fd >= 0) {
    // A full pipe says the same.
    static_cast<void>(::write(fd, &byte, 1));
  }
  errno = saved;
}

// Ends a process unless it handles the signal, and says where it was.
bool is_fatal(int signal) {
  constexpr int kFatal[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
                            SIGSYS,  SIGTRAP, SIGQUIT, SIGINT};
  return std::ranges::find(kFatal, signal) != std::end(kFatal);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

bool stops_group(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// What the child is told before it is another program.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int out;
  int err;
  int gate;    // it goes on once this is at its end
  int report;  // takes the error of exec
};

// Between fork and exec, where only functions may be called that are safe in handlers of signals.
[[noreturn]] void become(const ChildPlan& plan) {
  ::setpgid(0, 0);
  for (int signal = 1; signal < NSIG; ++signal) {
    ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  char byte = 0;
  while (::read(plan.gate, &byte, 1) < 0 && errno == EINTR) {
  }
  ::dup2(plan.out, STDOUT_FILENO);
  ::dup2(plan.err, STDERR_FILENO);
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC of linux/close_range.h
  ::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec);
#endif
  ::execve(plan.program, plan.arguments, plan.environment);
  const int error = errno;
  static_cast<void>(::write(plan.report, &error, sizeof(error)));
  ::_exit(127);
}

std::optional<Registers> registers_of(pid_t thread) {
  user_regs_struct raw{};
  iovec part{.iov_base = &raw, .iov_len = sizeof(raw)};
  if (::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &part) != 0) {
    return std::nullopt;
  }
  Registers registers;
#if defined(__x86_64__)
  registers.counter = raw.rip;
  registers.stack = raw.rsp;
  registers.others = {raw.rax, raw.rbx, raw.rcx, raw.rdx, raw.rsi, raw.rdi, raw.rbp, raw.rsp,
                      raw.r8,  raw.r9,  raw.r10, raw.r11, raw.r12, raw.r13, raw.r14, raw.r15};
#elif defined(__aarch64__)
  registers.counter = raw.pc;
  registers.stack = raw.sp;
  registers.others.assign(std::begin(raw.regs), std::end(raw.regs));
#else
  return std::nullopt;
#endif
  return registers;
}

// Hands a terminal to a process group. Who is in the background of it is stopped for that, unless
// the signal is blocked.
void give_terminal(pid_t group) {
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &stop, &before);
  ::tcsetpgrp(STDIN_FILENO, group);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

struct TracedChild::State {
  pid_t pid = -1;
  bool traced = false;
  bool has_terminal = false;
  UniqueFd out;
  UniqueFd err;
  Pipe events;
  struct sigaction before{};  // how SIGCHLD was handled
  std::set<pid_t> threads;    // that are traced, or the child alone
  std::map<pid_t, pid_t> process_of_thread;
  std::optional<ProcessEnd> end;
  double processor_s = 0;  // at its end
  std::optional<FatalSignal> fatal;
  std::set<pid_t> stopped;  // for look_at

  void add(pid_t thread) {
    threads.insert(thread);
    process_of_thread[thread] = process_of(thread).value_or(thread);
  }

  // Of a thread that is about to get the signal.
  void note_fatal(pid_t thread, int signal) {
    FatalSignal found{.process = process_of_thread[thread],
                      .thread = thread,
                      .signal = signal,
                      .at = {},
                      .callers = {}};
    if (const auto registers = registers_of(thread)) {
      CodePlaces places(mappings_of(found.process));
      found.at = places.at(registers->counter);
      found.callers = callers_of(found.process, registers->stack, places, kMostCallers);
    }
    fatal = std::move(found);
  }

  void attend_stop(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    const int event = status >> 16;
    if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
      unsigned long started = 0;
      if (::ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &started) == 0) {
        add(static_cast<pid_t>(started));
      }
      ::ptrace(PTRACE_CONT, thread, nullptr, nullptr);
    } else if (event == PTRACE_EVENT_STOP) {
      if (stops_group(signal)) {
        ::ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
      } else {
        stopped.insert(thread);
      }
    } else {
      if (is_fatal(signal)) {
        note_fatal(thread, signal);
      }
      // Nobody could let a stopped command go on: the terminal's shell knows this process alone.
      const bool dropped = has_terminal && signal == SIGTSTP;
      // The signal travels as a number in place of a pointer.
      ::ptrace(PTRACE_CONT, thread, nullptr,
               reinterpret_cast<void*>(static_cast<intptr_t>(dropped ? 0 : signal)));  // NOLINT
    }
  }

  // The number of a group is not given anew before its first process is waited for. What is not
  // traced and outlives that is ended here: later nobody knows it.
  void end_group() const {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid) {
      ::kill(-pid, SIGKILL);
    }
  }

  // One event of a thread; false where there is none.
  bool reap_one(pid_t thread) {
    if (thread == pid && !traced) {
      end_group();
    }
    int status = 0;
    rusage used{};
    const pid_t got = ::wait4(thread, &status, WNOHANG | __WALL, &used);
    if (got <= 0) {
      if (got < 0 && errno != EINTR) {
        threads.erase(thread);
      }
      return got < 0 && errno == EINTR;
    }
    if (WIFSTOPPED(status)) {
      attend_stop(thread, status);
      return true;
    }
    threads.erase(thread);
    stopped.erase(thread);
    if (thread == pid) {
      end = ProcessEnd{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                       .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
      processor_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    }
    return false;
  }

  // Takes what happened, and leaves in `stopped` those that were asked to stop or just began.
  void reap() {
    std::set<pid_t> done;
    // Those that begin meanwhile have stopped already, and nothing tells of them again.
    for (bool more = true; more;) {
      more = false;
      const std::vector<pid_t> known(threads.begin(), threads.end());
      for (const pid_t thread : known) {
        if (done.insert(thread).second) {
          more = true;
          while (reap_one(thread)) {
          }
        }
      }
    }
  }

  void release() {
    for (const pid_t thread : std::exchange(stopped, {})) {
      ::ptrace(PTRACE_CONT, thread, nullptr, nullptr);
    }
  }

  // Takes what the handler wrote.
  void drain() const {
    char bytes[256];
    while (::read(events.read_end.get(), bytes, sizeof(bytes)) > 0) {
    }
  }
};

Result<TracedChild> TracedChild::start(const Spec& spec) {
  auto state = std::make_unique<State>();
  MYNAH_TRY(Pipe out, Pipe::create());
  MYNAH_TRY(Pipe err, Pipe::create());
  MYNAH_TRY(Pipe gate, Pipe::create());
  MYNAH_TRY(Pipe report, Pipe::create());
  MYNAH_TRY(state->events, Pipe::create());
  for (const int fd : {state->events.read_end.get(), state->events.write_end.get()}) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  int nobody = -1;
  if (!child_event_end.compare_exchange_strong(nobody, state->events.write_end.get())) {
    return fail(ErrorCode::Busy, "one command can be watched at a time");
  }
  struct sigaction action{};
  action.sa_handler = on_child_event;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGCHLD, &action, &state->before);
  TracedChild child(std::move(state));  // from here on its destructor puts everything back
  State& it = *child.state_;

  std::vector<std::string> words = {spec.program};
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  std::vector<std::string> variables = spec.environment;
  const std::vector<char*> arguments = exec_list(words);
  const std::vector<char*> environment = exec_list(variables);
  const ChildPlan plan{.program = spec.program.c_str(),
                       .arguments = arguments.data(),
                       .environment = environment.data(),
                       .out = out.write_end.get(),
                       .err = err.write_end.get(),
                       .gate = gate.read_end.get(),
                       .report = report.write_end.get()};
  // The other end of the gate is closed in the child by no one but exec, so it must not have it.
  const int our_gate = gate.write_end.get();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(our_gate);
    become(plan);
  }
  if (pid < 0) {
    return fail(ErrorCode::Io,
                fmt::format("cannot start {}: {}", spec.program, std::strerror(errno)));
  }
  it.pid = pid;
  ::setpgid(pid, pid);  // whichever of the two is first
  it.out = std::move(out.read_end);
  it.err = std::move(err.read_end);
  out.write_end.reset();
  err.write_end.reset();
  report.write_end.reset();
  constexpr uintptr_t kOptions =
      PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
  it.traced =
      ::ptrace(PTRACE_SEIZE, pid, nullptr, reinterpret_cast<void*>(kOptions)) == 0;  // NOLINT
  it.add(pid);
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) {
    it.has_terminal = true;
    give_terminal(pid);
  }
  gate.write_end.reset();  // go
  int error = 0;
  // At its end once exec closed it. A child that is stopped meanwhile is attended to.
  for (;;) {
    const Result<bool> readable =
        wait_readable(report.read_end.get(), std::chrono::milliseconds(10));
    child.attend();
    if ((readable && *readable) || it.end) {
      break;
    }
  }
  if (::read(report.read_end.get(), &error, sizeof(error)) == sizeof(error)) {
    return fail(ErrorCode::Io,
                fmt::format("cannot start {}: {}", spec.program, std::strerror(error)));
  }
  return child;
}

TracedChild::TracedChild(std::unique_ptr<State> state) : state_(std::move(state)) {}

TracedChild::TracedChild(TracedChild&&) noexcept = default;

TracedChild::~TracedChild() {
  if (!state_) {
    return;
  }
  State& it = *state_;
  if (it.pid > 0) {
    const auto until = Clock::now() + kEnds;
    while (!it.threads.empty() && Clock::now() < until) {
      kill(SIGKILL);
      attend();
      if (!it.threads.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    if (it.has_terminal) {
      give_terminal(::getpgrp());
    }
  }
  ::sigaction(SIGCHLD, &it.before, nullptr);
  child_event_end.store(-1);
}

pid_t TracedChild::pid() const {
  return state_->pid;
}

bool TracedChild::traced() const {
  return state_->traced;
}

UniqueFd& TracedChild::out() {
  return state_->out;
}

UniqueFd& TracedChild::err() {
  return state_->err;
}

int TracedChild::events() const {
  return state_->events.read_end.get();
}

void TracedChild::attend() {
  state_->drain();
  state_->reap();
  state_->release();
}

const std::optional<ProcessEnd>& TracedChild::end() const {
  return state_->end;
}

double TracedChild::processor_s() const {
  return state_->processor_s;
}

std::vector<pid_t> TracedChild::processes() const {
  std::set<pid_t> found;
  if (!state_->end) {
    found.insert(state_->pid);
  }
  for (const pid_t thread : state_->threads) {
    found.insert(state_->process_of_thread.at(thread));
  }
  std::vector<pid_t> list(found.begin(), found.end());
  // The command first, then in the order in which they began, mostly.
  if (const auto own = std::ranges::find(list, state_->pid); own != list.end()) {
    std::rotate(list.begin(), own, own + 1);
  }
  if (!state_->traced && !state_->end) {
    const std::vector<pid_t> more = descendants_of(state_->pid);
    list.insert(list.end(), more.begin(), more.end());
  }
  return list;
}

const std::optional<FatalSignal>& TracedChild::fatal() const {
  return state_->fatal;
}

std::optional<Registers> TracedChild::look_at(pid_t thread) {
  State& it = *state_;
  if (!it.traced || !it.threads.contains(thread) ||
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) {
    return std::nullopt;
  }
  std::optional<Registers> registers;
  const auto until = Clock::now() + kStops;
  while (Clock::now() < until && it.threads.contains(thread)) {
    it.drain();
    it.reap();
    if (it.stopped.contains(thread)) {
      registers = registers_of(thread);
      break;
    }
    pollfd entry{.fd = events(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, 10);
  }
  it.release();
  return registers;
}

void TracedChild::kill(int signal) {
  State& it = *state_;
  if (it.pid <= 0) {
    return;
  }
  // The number of a group is not given anew while it has a member, and the child is not reaped
  // before it ended.
  if (!it.end || !it.threads.empty()) {
    ::kill(-it.pid, signal);
  }
  for (const pid_t process : processes()) {
    ::kill(process, signal);
  }
}

}  // namespace mynah::doctor
