// mynah_gpu_check: everything that only a machine with a card can show, unattended, in under ten
// minutes; leaves JSON and a table.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/process.h"
#include "check.h"
#include "report.h"
#include "tensor/device_error.h"

namespace mynah::gpucheck {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "usage: mynah-gpu-check [--device cuda|cuda:N|simt:0|cpu] [--data FOLDER] [--out FOLDER]\n"
    "                       [--only NAME[,NAME...]] [--quick]\n"
    "Checks mynah on this machine's card and measures it, in under ten minutes; writes "
    "gpu-check.json\n"
    "and gpu-check.md to FOLDER (default: here). Each section runs in a process of its own.\n"
    "--data: folder of the model and clips (default: beside the program, where they are there).\n"
    "--quick: small sizes, once each: tries the check itself; its times mean nothing.\n"
    "Exit code: 0 all well, 1 something is wrong, 2 usage, 3 no such device.\n";

struct Command {
  Options options;
  std::string out = ".";
  std::vector<std::string> only;
  std::string section;  // runs that one here
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<Command> parse(const std::vector<std::string>& words) {
  Command command;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--quick") {
      command.options.quick = true;
      continue;
    }
    if (i + 1 == words.size()) {
      return std::nullopt;
    }
    const std::string& value = words[++i];
    if (words[i - 1] == "--device") {
      command.options.device = value;
    } else if (words[i - 1] == "--data") {
      command.options.data = value;
    } else if (words[i - 1] == "--images") {
      command.options.images = value;
    } else if (words[i - 1] == "--out") {
      command.out = value;
    } else if (words[i - 1] == "--only") {
      command.only = split(value);
    } else if (words[i - 1] == "--section") {
      command.section = value;
    } else {
      return std::nullopt;
    }
  }
  const auto known = [](const std::string& name) {
    return std::ranges::any_of(sections(), [&](const Section& s) { return s.name == name; });
  };
  const bool named = std::ranges::all_of(command.only, known) &&
                     (command.section.empty() || known(command.section));
  return named ? std::optional(command) : std::nullopt;
}

int run_section(const Command& command) {
  const auto section =
      std::ranges::find_if(sections(), [&](const Section& s) { return s.name == command.section; });
  Status status;
  try {
    status = section->run(command.options);
  } catch (const DeviceError& error) {
    status = std::unexpected(error.error());
  }
  if (!status) {
    fmt::print(stderr, "mynah-gpu-check: {}: {}\n", section->name, status.error().message);
    say({{"row", "error"}, {"message", status.error().message}});
    return 1;
  }
  return 0;
}

// What a section's process said, a line each, and how it ended.
struct Outcome {
  Json rows = Json::array();
  std::string status;  // "done", "failed", "stopped after N s", "killed by signal N", "left out"
  double seconds = 0;
};

void take_lines(std::string& text, Json& rows) {
  for (size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
    Json row = Json::parse(text.substr(0, end), nullptr, false);
    if (!row.is_discarded()) {
      rows.push_back(std::move(row));
    }
  }
}

Result<Outcome> run_apart(const Section& section, const Command& command,
                          std::chrono::seconds limit) {
  Outcome outcome;
  MYNAH_TRY(Pipe pipe, Pipe::create());
  std::vector<std::string> arguments{
      "--section", section.name,         "--device", command.options.device,
      "--data",    command.options.data, "--images", command.options.images};
  if (command.options.quick) {
    arguments.emplace_back("--quick");
  }
  std::vector<std::string> environment = inherited_environment();
  // The driver's own store of compiled programs would hide what compiling takes.
  environment.emplace_back("CUDA_CACHE_DISABLE=1");
  const auto start = Clock::now();
  MYNAH_TRY(Process process,
            Process::spawn({.program = fs::read_symlink("/proc/self/exe").string(),
                            .arguments = std::move(arguments),
                            .descriptors = {{pipe.write_end.get(), 1}, {STDERR_FILENO, 2}},
                            .environment = std::move(environment),
                            .group = ProcessGroup::Own}));
  pipe.write_end.reset();
  std::string text;
  bool open = true;
  while (open) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - (Clock::now() - start));
    MYNAH_TRY(const bool ready,
              wait_readable(pipe.read_end.get(), std::max(left, std::chrono::milliseconds(0))));
    if (!ready) {
      process.kill(SIGKILL);
      break;
    }
    std::array<char, 65536> part{};
    const ssize_t n = ::read(pipe.read_end.get(), part.data(), part.size());
    open = n > 0;
    text.append(part.data(), n > 0 ? static_cast<size_t>(n) : 0);
    take_lines(text, outcome.rows);
  }
  MYNAH_TRY(const auto end, process.wait(std::nullopt));
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.status = open              ? fmt::format("stopped after {} s", limit.count())
                   : end->ok()       ? "done"
                   : end->signal > 0 ? fmt::format("killed by signal {}", end->signal)
                                     : "failed";
  return outcome;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

int run_all(Command command) {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
  if (command.options.data.empty() && fs::exists(beside / "tiny.en.gguf")) {
    command.options.data = beside.string();
  }
  std::string pattern = (fs::temp_directory_path() / "mynah-gpu-check-XXXXXX").string();
  if (command.options.images.empty()) {
    if (::mkdtemp(pattern.data()) == nullptr) {
      fmt::print(stderr, "mynah-gpu-check: cannot make a folder in {}\n",
                 fs::temp_directory_path().string());
      return 3;
    }
    command.options.images = pattern;
  }
  if (const auto subject =
          open_subject({.device = command.options.device, .data = {}, .images = {}, .quick = true});
      !subject) {
    fmt::print(stderr, "mynah-gpu-check: {}\n", subject.error().message);
    return 3;
  }
  constexpr auto kAll = std::chrono::seconds(570);
  const auto start = Clock::now();
  Json report{{"date", today()},
              {"device", command.options.device},
              {"quick", command.options.quick},
              {"sections", Json::array()}};
  for (const Section& section : sections()) {
    if (!command.only.empty() &&
        std::ranges::find(command.only, section.name) == command.only.end()) {
      continue;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::seconds>(kAll - (Clock::now() - start));
    const auto limit = std::min(left, std::chrono::seconds(section.limit_s));
    fmt::print("{}: {}\n", section.name, section.what);
    std::fflush(stdout);
    auto outcome = limit.count() < 5
                       ? Result<Outcome>(Outcome{.status = "left out: no time was left"})
                       : run_apart(section, command, limit);
    if (!outcome) {
      outcome = Outcome{.status = outcome.error().message};
    }
    fmt::print("  {} ({:.1f} s, {} rows)\n", outcome->status, outcome->seconds,
               outcome->rows.size());
    report["sections"].push_back({{"name", section.name},
                                  {"status", outcome->status},
                                  {"seconds", outcome->seconds},
                                  {"rows", std::move(outcome->rows)}});
  }
  if (command.options.images == pattern) {
    std::error_code ignored;
    fs::remove_all(pattern, ignored);
  }
  const std::vector<std::string> wrong = what_is_wrong(report);
  report["wrong"] = wrong;
  std::ofstream(fs::path(command.out) / "gpu-check.json") << report.dump(1) << "\n";
  std::ofstream markdown(fs::path(command.out) / "gpu-check.md");
  markdown << as_markdown(report);
  if (!markdown.flush()) {
    fmt::print(stderr, "mynah-gpu-check: cannot write to {}\n", command.out);
    return 3;
  }
  fmt::print("\n{}", as_markdown(report));
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace mynah::gpucheck

int main(int argc, char** argv) {
  const auto command = mynah::gpucheck::parse({argv + 1, argv + argc});
  if (!command) {
    fmt::print(stderr, "{}", mynah::gpucheck::kUsage);
    return 2;
  }
  return command->section.empty() ? mynah::gpucheck::run_all(*command)
                                  : mynah::gpucheck::run_section(*command);
}
