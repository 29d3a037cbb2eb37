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
#include <map>
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

bool is_section(const std::string& name) {
  return std::ranges::any_of(sections(), [&](const Section& s) { return s.name == name; });
}

std::string section_names() {
  std::string names;
  for (const Section& section : sections()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", section.name);
  }
  return names;
}

std::string usage() {
  return fmt::format(
      "usage: mynah-gpu-check [--device cuda|cuda:N|simt:0|cpu] [--data FOLDER] [--out FOLDER]\n"
      "                       [--only NAME[,NAME...]] [--quick]\n"
      "Checks mynah on this machine's card and measures it, in under ten minutes; keeps\n"
      "gpu-check.json and gpu-check.md in FOLDER (default: here) up to date as it goes. Each\n"
      "section runs in a process of its own, and is stopped after a time of its own.\n"
      "--data: folder of the model and clips (default: beside the program, where they are there).\n"
      "--only: some of {}.\n"
      "--quick: small sizes, once each, no clips: tries the check itself; its times mean nothing.\n"
      "Exit code: 0 all well, 1 something is wrong, 2 usage, 3 no such device, or nowhere to\n"
      "write.\n",
      section_names());
}

// The error is a line that names the word that was not understood.
Result<Command> parse(const std::vector<std::string>& words) {
  Command command;
  const std::map<std::string, std::string*> valued = {{"--device", &command.options.device},
                                                      {"--data", &command.options.data},
                                                      {"--images", &command.options.images},
                                                      {"--out", &command.out},
                                                      {"--section", &command.section}};
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto found = valued.find(word);
    if (word == "--quick") {
      command.options.quick = true;
    } else if (found == valued.end() && word != "--only") {
      return fail(ErrorCode::Usage, fmt::format("'{}' is no option", word));
    } else if (i + 1 == words.size()) {
      return fail(ErrorCode::Usage, word + " wants a value");
    } else if (word == "--only") {
      command.only = split(words[++i]);
    } else {
      *found->second = words[++i];
    }
  }
  std::vector<std::string> named = command.only;
  if (!command.section.empty()) {
    named.push_back(command.section);
  }
  for (const std::string& name : named) {
    if (!is_section(name)) {
      return fail(ErrorCode::Usage,
                  fmt::format("--only: wanted some of {}; found '{}'", section_names(), name));
    }
  }
  const std::string& device = command.options.device;
  if (device != "cpu" && device != "simt:0" && device != "cuda" && !device.starts_with("cuda:")) {
    return fail(ErrorCode::Usage,
                fmt::format("--device: wanted cuda, cuda:N, simt:0 or cpu, found '{}'", device));
  }
  return command;
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

// A folder that goes with this.
class TemporaryImages {
 public:
  TemporaryImages() {
    std::string pattern = (fs::temp_directory_path() / "mynah-gpu-check-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) {
      path_ = pattern;
    }
  }

  ~TemporaryImages() {
    std::error_code ignored;
    if (!path_.empty()) {
      fs::remove_all(path_, ignored);
    }
  }

  TemporaryImages(const TemporaryImages&) = delete;
  TemporaryImages& operator=(const TemporaryImages&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Both files, whole: after every section, so that what was found stays whatever comes next.
Status write_report(Json& report, const std::string& folder) {
  report["wrong"] = what_is_wrong(report);
  std::error_code error;
  fs::create_directories(folder, error);
  for (const auto& [name, text] : {std::pair{"gpu-check.json", report.dump(1) + "\n"},
                                   std::pair{"gpu-check.md", as_markdown(report)}}) {
    std::ofstream file(fs::path(folder) / name);
    file << text;
    if (!file.flush()) {
      return fail(ErrorCode::Environment,
                  fmt::format("--out {}: cannot write {} there", folder, name));
    }
  }
  return {};
}

int run_all(Command command) {
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
  if (command.options.data.empty() && fs::exists(beside / "tiny.en.gguf")) {
    command.options.data = beside.string();
  }
  const TemporaryImages images;
  if (command.options.images.empty()) {
    command.options.images = images.path();
  }
  Status ready;
  if (const auto subject =
          open_subject({.device = command.options.device, .data = {}, .images = {}, .quick = true});
      !subject) {
    ready = std::unexpected(subject.error());
  }
  Json report{{"date", today()},
              {"device", command.options.device},
              {"quick", command.options.quick},
              {"sections", Json::array()}};
  if (ready) {
    ready = write_report(report, command.out);
  }
  if (!ready) {
    fmt::print(stderr, "mynah-gpu-check: {}\n", ready.error().message);
    return 3;
  }
  constexpr auto kAll = std::chrono::seconds(570);
  const auto start = Clock::now();
  for (const Section& section : sections()) {
    const bool wanted =
        command.only.empty() || std::ranges::find(command.only, section.name) != command.only.end();
    const auto left =
        std::chrono::duration_cast<std::chrono::seconds>(kAll - (Clock::now() - start));
    const auto limit = std::min(left, std::chrono::seconds(section.limit_s));
    Result<Outcome> outcome = Outcome{.status = kNotAskedFor};
    if (wanted) {
      fmt::print("{}: {}\n", section.name, section.what);
      std::fflush(stdout);
      outcome = limit.count() < 5 ? Result<Outcome>(Outcome{.status = "left out: no time was left"})
                                  : run_apart(section, command, limit);
      if (!outcome) {
        outcome = Outcome{.status = outcome.error().message};
      }
      fmt::print("  {} ({:.1f} s, {} rows)\n", outcome->status, outcome->seconds,
                 outcome->rows.size());
    }
    report["sections"].push_back({{"name", section.name},
                                  {"status", outcome->status},
                                  {"seconds", outcome->seconds},
                                  {"rows", std::move(outcome->rows)}});
    if (const Status kept = write_report(report, command.out); !kept) {
      fmt::print(stderr, "mynah-gpu-check: {}\n", kept.error().message);
      return 3;
    }
  }
  fmt::print("\n{}\nAlso in {}.\n", as_markdown(report),
             (fs::path(command.out) / "gpu-check.md").string());
  return report["wrong"].empty() ? 0 : 1;
}

}  // namespace
}  // namespace mynah::gpucheck

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end() ||
      std::ranges::find(words, "-h") != words.end()) {
    fmt::print("{}", mynah::gpucheck::usage());
    return 0;
  }
  const auto command = mynah::gpucheck::parse(words);
  if (!command) {
    fmt::print(stderr, "mynah-gpu-check: {}\n{}", command.error().message,
               mynah::gpucheck::usage());
    return 2;
  }
  return command->section.empty() ? mynah::gpucheck::run_all(*command)
                                  : mynah::gpucheck::run_section(*command);
}
