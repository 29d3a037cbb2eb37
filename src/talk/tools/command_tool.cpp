#include "talk/tools/command_tool.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "base/process.h"

namespace mynah::talk {

namespace {

constexpr size_t kMostOutput = size_t{1} << 20;

// Writes what the command reads and reads what it writes until both are done. A command that does
// not read its input is not waited for.
std::string exchange_texts(Pipe& in, const Pipe& out, std::string_view text,
                           const std::stop_token& stop) {
  constexpr int kLook_ms = 100;    // how soon a stop is seen
  constexpr size_t kPiece = 4096;  // of which a pipe that can be written to takes all
  std::string read;
  std::array<char, kPiece> piece{};
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> fds = {
        {{.fd = out.read_end.get(), .events = POLLIN, .revents = 0},
         {.fd = in.write_end ? in.write_end.get() : -1, .events = POLLOUT, .revents = 0}}};
    const int ready = ::poll(fds.data(), fds.size(), kLook_ms);
    if (ready <= 0) {
      continue;
    }
    if (fds[1].revents != 0) {
      const ssize_t count = ::write(in.write_end.get(), text.data(), std::min(text.size(), kPiece));
      text.remove_prefix(count > 0 ? static_cast<size_t>(count) : text.size());
      if (text.empty()) {
        in.write_end.reset();
      }
    }
    if (fds[0].revents != 0) {
      const ssize_t count = ::read(out.read_end.get(), piece.data(), piece.size());
      if (count <= 0) {
        break;
      }
      read.append(piece.data(), static_cast<size_t>(count));
      if (read.size() > kMostOutput) {
        break;
      }
    }
  }
  return read;
}

class CommandTool final : public Tool {
 public:
  CommandTool(ToolFacts facts, std::vector<std::string> words)
      : facts_(std::move(facts)), words_(std::move(words)) {}

  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] std::string shown(const ToolJson& arguments) const override {
    const bool is_line = words_.front() == "/bin/sh" && words_.size() == 3;
    const std::string command = is_line ? words_.back() : fmt::format("{}", fmt::join(words_, " "));
    return arguments.empty()
               ? fmt::format("`{}`", command)
               : fmt::format("`{}` with {}", command,
                             arguments.dump(-1, ' ', false, ToolJson::error_handler_t::replace));
  }

  [[nodiscard]] Result<std::string> run(const ToolJson& arguments, const ToolRun& run) override {
    const std::string text = arguments.dump(-1, ' ', false, ToolJson::error_handler_t::replace);
    const auto program = find_program(words_.front());
    if (!program) {
      return fail(ErrorCode::Environment,
                  fmt::format("{}: there is no program '{}'", facts_.name, words_.front()));
    }
    MYNAH_TRY(Pipe in, Pipe::create());
    MYNAH_TRY(Pipe out, Pipe::create());
    MYNAH_TRY(Process process, Process::spawn({.program = *program,
                                               .name = words_.front(),
                                               .arguments = {words_.begin() + 1, words_.end()},
                                               .descriptors = {{in.read_end.get(), STDIN_FILENO},
                                                               {out.write_end.get(), STDOUT_FILENO},
                                                               {STDERR_FILENO, STDERR_FILENO}},
                                               .environment = inherited_environment(),
                                               .group = ProcessGroup::Own}));
    in.read_end.reset();
    out.write_end.reset();
    std::string written = exchange_texts(in, out, text, run.stop);
    in.write_end.reset();
    if (run.stop.stop_requested() || written.size() > kMostOutput) {
      process.kill(SIGTERM);
    }
    MYNAH_TRY(const auto end, process.wait(std::chrono::seconds(10)));
    if (run.stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    if (written.size() > kMostOutput) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} wrote more than {} bytes", facts_.name, kMostOutput));
    }
    if (end && !end->ok()) {
      written += fmt::format("\n[the command ended with {}]",
                             end->signal != 0 ? fmt::format("signal {}", end->signal)
                                              : fmt::format("exit code {}", end->exit_code));
    }
    return written;
  }

 private:
  ToolFacts facts_;
  std::vector<std::string> words_;
};

}  // namespace

std::shared_ptr<Tool> make_command_tool(ToolFacts facts, std::vector<std::string> words) {
  return std::make_shared<CommandTool>(std::move(facts), std::move(words));
}

}  // namespace mynah::talk
