#include "base/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec_list.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace mynah {
namespace {

// Above every number a child is given, so that copying one descriptor never closes another.
constexpr int kFirstSpareFd = 64;

// How often whoever waits looks whether it should stop.
constexpr int kStopPoll_ms = 100;

std::string why(int error) {
  return std::strerror(error);
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }

  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void open_null(int fd) {
    posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
  }

  void copy(int ours, int theirs) { posix_spawn_file_actions_adddup2(&actions_, ours, theirs); }

  void close_from(int fd) { posix_spawn_file_actions_addclosefrom_np(&actions_, fd); }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// The child's process group, and the default handling of signals: mynah ignores SIGPIPE and catches
// SIGINT.
class StartAttributes {
 public:
  explicit StartAttributes(ProcessGroup group) {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    const int own_group = group == ProcessGroup::Own ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK |
                                                              POSIX_SPAWN_SETSIGDEF | own_group));
  }

  StartAttributes(const StartAttributes&) = delete;
  StartAttributes& operator=(const StartAttributes&) = delete;

  ~StartAttributes() { posix_spawnattr_destroy(&attributes_); }

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

Status plan_descriptors(const ProcessSpec& spec, FileActions& actions,
                        std::vector<UniqueFd>& spares) {
  int last = STDERR_FILENO;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    actions.open_null(fd);
  }
  for (const auto& [ours, theirs] : spec.descriptors) {
    UniqueFd spare(::fcntl(ours, F_DUPFD_CLOEXEC, kFirstSpareFd));
    if (!spare) {
      const int error = errno == EINVAL ? EMFILE : errno;  // the limit is below what was asked for
      return fail(ErrorCode::Io, "cannot hand a descriptor to " + spec.program + ": " + why(error));
    }
    actions.copy(spare.get(), theirs);
    spares.push_back(std::move(spare));
    last = std::max(last, theirs);
  }
  actions.close_from(last + 1);
  return {};
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const auto runs = [](const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
  };
  if (name.find('/') != std::string::npos) {
    return runs(name) ? std::optional(name) : std::nullopt;
  }
  const char* folders = std::getenv("PATH");
  std::istringstream rest(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(rest, folder, ':');) {
    // An empty entry of PATH is the working folder.
    std::string path = std::filesystem::path(folder) / name;
    if (runs(path)) {
      return path;
    }
  }
  return std::nullopt;
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    variables.emplace_back(*entry);
  }
  return variables;
}

Result<Pipe> Pipe::create() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::Io, "cannot make a pipe: " + why(errno));
  }
  return Pipe{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
}

Result<Process> Process::spawn(const ProcessSpec& spec) {
  FileActions actions;
  std::vector<UniqueFd> spares;
  MYNAH_TRY_STATUS(plan_descriptors(spec, actions, spares));
  std::vector<std::string> arguments = {spec.name.empty() ? spec.program : spec.name};
  arguments.insert(arguments.end(), spec.arguments.begin(), spec.arguments.end());
  std::vector<std::string> environment = spec.environment;
  const StartAttributes attributes(spec.group);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, spec.program.c_str(), actions.get(), attributes.get(),
                                  exec_list(arguments).data(), exec_list(environment).data());
  if (error != 0) {
    return fail(error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                "cannot start " + spec.program + ": " + why(error));
  }
  // The pid is ours until it is reaped, so this cannot name another process.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    const int reason = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail(ErrorCode::Environment,
                "cannot watch a child process (Linux 5.3 or later is needed): " + why(reason));
  }
  return Process(pid, std::move(pidfd), spec.group);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      group_(other.group_),
      end_(std::exchange(other.end_, std::nullopt)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(group_, other.group_);
  std::swap(end_, other.end_);
  return *this;
}

Process::~Process() {
  if (pid_ > 0 && !end_) {
    // One that the kernel holds inside a driver ends when that lets go of it, which may be never.
    constexpr std::chrono::milliseconds kEnds{5000};
    kill(SIGKILL);
    static_cast<void>(wait(kEnds));
  }
}

void Process::kill(int signal) {
  if (group_ == ProcessGroup::Ours) {
    // The descriptor means this child alone, also once it was waited for and its pid is another's.
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
  } else if (pid_ > 0 && !end_) {
    ::kill(-pid_, signal);
  }
}

Result<std::optional<ProcessEnd>> Process::wait(std::optional<std::chrono::milliseconds> limit) {
  if (!end_) {
    MYNAH_TRY(const bool ended, wait_readable(pidfd_.get(), limit));
    if (!ended) {
      return std::nullopt;
    }
    MYNAH_TRY(end_, reap());
  }
  return end_;
}

Result<ProcessEnd> Process::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail(ErrorCode::Io, "cannot wait for a child process: " + why(errno));
    }
  }
  ProcessEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

Result<bool> wait_readable(int fd, std::optional<std::chrono::milliseconds> limit,
                           const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto until = limit ? Clock::now() + *limit : Clock::time_point::max();
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  for (;;) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    int left_ms = -1;
    if (limit) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      left_ms = static_cast<int>(std::clamp<decltype(left)>(left, 0, 1 << 30));
    }
    const bool sliced = stop.stop_possible() && (left_ms < 0 || left_ms > kStopPoll_ms);
    const int ready = ::poll(&entry, 1, sliced ? kStopPoll_ms : left_ms);
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return fail(ErrorCode::Io, "cannot wait for input: " + why(errno));
    }
    if (ready == 0 && !sliced) {
      return false;
    }
  }
}

}  // namespace mynah
