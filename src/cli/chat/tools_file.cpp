#include "cli/chat/tools_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "base/process.h"
#include "formats/json.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostOutput = size_t{1} << 20;

// Writes what the command reads and reads what it writes until both are done. A command that does
// not read its input is not waited for.
std::string exchange(Pipe& in, const Pipe& out, std::string_view text,
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

}  // namespace

Result<ToolsFile> ToolsFile::read(const std::string& path) {
  MYNAH_TRY(const std::string text, read_text_file(path));
  return parse(text, path);
}

Result<ToolsFile> ToolsFile::parse(const std::string& text, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", name, what));
  };
  MYNAH_TRY(Json list, parse_ordered_json(text, name));
  if (list.is_object()) {
    list = list.contains("tools") ? Json(list["tools"]) : Json::array({list});
  }
  if (!list.is_array()) {
    return refuse("wanted a JSON list of tools");
  }
  ToolsFile file;
  for (size_t i = 0; i < list.size(); ++i) {
    Json tool = list[i];
    if (tool.is_object() && !tool.contains("function") && tool.contains("name")) {
      Json function = tool;
      function.erase("command");
      tool = {{"type", "function"},
              {"function", std::move(function)},
              {"command", tool.value("command", Json())}};
    }
    if (!tool.is_object() || !tool.contains("function") || !tool["function"].is_object() ||
        !tool["function"].contains("name") || !tool["function"]["name"].is_string()) {
      return refuse(
          fmt::format("tool {}: wanted {{\"type\": \"function\", \"function\": "
                      "{{\"name\": ..., \"parameters\": ...}}}}",
                      i + 1));
    }
    Command command{.tool = tool["function"]["name"].get<std::string>(), .words = {}};
    const Json words = tool.value("command", Json());
    if (words.is_string()) {
      command.words = {"/bin/sh", "-c", words.get<std::string>()};
    } else if (words.is_array() && !words.empty() &&
               std::ranges::all_of(words, [](const Json& word) { return word.is_string(); })) {
      command.words = words.get<std::vector<std::string>>();
    } else if (!words.is_null()) {
      return refuse(
          fmt::format("tool {}: wanted a command that is a text or a list of words", command.tool));
    }
    tool.erase("command");
    tool["type"] = "function";
    file.tools_.push_back(std::move(tool));
    if (!command.words.empty()) {
      file.commands_.push_back(std::move(command));
    }
  }
  return file;
}

const ToolsFile::Command* ToolsFile::find(const std::string& tool) const {
  const auto found = std::ranges::find(commands_, tool, &Command::tool);
  return found == commands_.end() ? nullptr : &*found;
}

std::string ToolsFile::command_of(const std::string& tool) const {
  const Command* const command = find(tool);
  if (command == nullptr) {
    return {};
  }
  return command->words.front() == "/bin/sh" && command->words.size() == 3
             ? command->words.back()
             : fmt::format("{}", fmt::join(command->words, " "));
}

Result<std::string> ToolsFile::run(const ToolCall& call, const std::stop_token& stop) const {
  const Command* const command = find(call.name);
  if (command == nullptr) {
    return fail(ErrorCode::NotFound, fmt::format("no command is there for {}", call.name));
  }
  const auto program = find_program(command->words.front());
  if (!program) {
    return fail(ErrorCode::Environment,
                fmt::format("{}: there is no program '{}'", call.name, command->words.front()));
  }
  MYNAH_TRY(Pipe in, Pipe::create());
  MYNAH_TRY(Pipe out, Pipe::create());
  MYNAH_TRY(Process process,
            Process::spawn({.program = *program,
                            .name = command->words.front(),
                            .arguments = {command->words.begin() + 1, command->words.end()},
                            .descriptors = {{in.read_end.get(), STDIN_FILENO},
                                            {out.write_end.get(), STDOUT_FILENO},
                                            {STDERR_FILENO, STDERR_FILENO}},
                            .environment = inherited_environment(),
                            .group = ProcessGroup::Own}));
  in.read_end.reset();
  out.write_end.reset();
  std::string written = exchange(in, out, call.arguments, stop);
  in.write_end.reset();
  if (stop.stop_requested() || written.size() > kMostOutput) {
    process.kill(SIGTERM);
  }
  MYNAH_TRY(const auto end, process.wait(std::chrono::seconds(10)));
  if (stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  if (written.size() > kMostOutput) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} wrote more than {} bytes", call.name, kMostOutput));
  }
  if (end && !end->ok()) {
    written += fmt::format("\n[the command ended with {}]",
                           end->signal != 0 ? fmt::format("signal {}", end->signal)
                                            : fmt::format("exit code {}", end->exit_code));
  }
  return written;
}

}  // namespace mynah::cli
