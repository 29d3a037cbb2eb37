#include "cli/doctor/doctor_resolve.h"

#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/process.h"
#include "cli/doctor/doctor_options.h"
#include "cli/doctor/doctor_style.h"
#include "doctor/plans/compare.h"
#include "doctor/plans/install_report.h"
#include "doctor/recipes/recipes.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/stack_report.h"

namespace mynah::cli {

namespace {

namespace fs = std::filesystem;
using doctor::Facts;
using doctor::PythonEnvironment;

// Requirements files of the places, which are what pip reads.
std::vector<std::string> requirement_files(const std::vector<std::string>& places) {
  std::vector<std::string> files;
  for (const std::string& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error) && doctor::kind_by_name(place) == "requirements") {
      files.push_back(place);
    }
  }
  return files;
}

Result<std::string> python_of(const PythonEnvironment& environment) {
  for (const char* const name : {"bin/python", "bin/python3"}) {
    std::string program = (fs::path(environment.path) / name).string();
    if (::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return fail(ErrorCode::NotFound, fmt::format("{} has no bin/python", environment.path));
}

Result<std::string> read_bounded(int descriptor, const std::stop_token& stop) {
  std::string text;
  std::array<char, size_t{1} << 16> block{};
  while (true) {
    MYNAH_TRY_STATUS(wait_readable(descriptor, std::nullopt, stop));
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0) {
      return fail(ErrorCode::Io, "what pip writes cannot be read");
    }
    if (count == 0) {
      return text;
    }
    text.append(block.data(), static_cast<size_t>(count));
    if (text.size() > doctor::kMostReportBytes) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("pip writes more than {} bytes", doctor::kMostReportBytes));
    }
  }
}

// What pip would install; its own errors go to standard error as they come.
Result<std::vector<doctor::Package>> ask_pip(Context& context, const std::string& python,
                                             const std::vector<std::string>& files) {
  ProcessSpec spec;
  spec.program = python;
  spec.arguments = {"-m",
                    "pip",
                    "install",
                    "--dry-run",
                    "--quiet",
                    "--no-input",
                    "--disable-pip-version-check",
                    "--report",
                    "-"};
  for (const std::string& file : files) {
    spec.arguments.insert(spec.arguments.end(), {"-r", file});
  }
  spec.environment = inherited_environment();
  spec.group = ProcessGroup::Own;  // with what pip starts
  context.say(
      fmt::format("running {} {}, which may ask the package index, and builds what has no "
                  "wheel; it installs nothing",
                  python, fmt::join(spec.arguments, " ")));
  MYNAH_TRY(Pipe pipe, Pipe::create());
  spec.descriptors = {{pipe.write_end.get(), STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
  MYNAH_TRY(Process process, Process::spawn(spec));
  pipe.write_end.reset();
  MYNAH_TRY(const std::string report, read_bounded(pipe.read_end.get(), context.stop));
  MYNAH_TRY(const std::optional<ProcessEnd> end, process.wait(std::nullopt));
  if (!end || !end->ok()) {
    return fail(ErrorCode::Environment,
                "pip did not say what it would install: it is missing, is older than 22.2, cannot "
                "reach the index, or finds no versions that fit together");
  }
  return doctor::parse_install_report(report);
}

Result<bool> resolved(Context& context, const std::vector<std::string>& places,
                      const DoctorOptions& options, const Facts& facts,
                      const doctor::Knowledge& knowledge) {
  const PythonEnvironment& environment = facts.environments.front();
  MYNAH_TRY(const std::string python, python_of(environment));
  MYNAH_TRY(const std::vector<doctor::Package> packages,
            ask_pip(context, python, requirement_files(places)));
  Facts before;
  before.machine = facts.machine;
  before.environments = {environment};
  Facts after = before;
  after.environments = {doctor::environment_after(environment, packages, knowledge)};
  const doctor::Comparison comparison = doctor::compare(before, after, facts.machine, knowledge);
  if (context.json) {
    nlohmann::ordered_json object = doctor::comparison_json(comparison);
    object["environment"] = environment.path;
    context.out.line(doctor::json_line(object));
  } else {
    context.out.line(fmt::format("\nWhat an installation would change in {}, as its pip says:",
                                 environment.path));
    context.out.write(doctor::comparison_text(comparison, text_style(context, options)));
  }
  return comparison.is_worse();
}

}  // namespace

Status check_resolve(const std::vector<std::string>& places, const DoctorOptions& options) {
  if (!options.as.empty() || !options.html.empty() || options.facts || options.redact) {
    return fail(ErrorCode::Usage,
                "--resolve asks the pip of an environment that is here: it goes with none of --as, "
                "--facts, --html and --redact");
  }
  if (requirement_files(places).empty()) {
    return fail(ErrorCode::Usage,
                "--resolve: name an environment and requirements files, as in: mynah doctor .venv "
                "requirements.txt --resolve");
  }
  return {};
}

Result<bool> doctor_resolve(Context& context, const std::vector<std::string>& places,
                            const DoctorOptions& options, const Facts& facts,
                            const doctor::Knowledge& knowledge) {
  if (facts.environments.size() != 1) {
    return fail(ErrorCode::Usage,
                fmt::format("--resolve: wanted one environment among the places, found {}",
                            facts.environments.size()));
  }
  Result<bool> worse = resolved(context, places, options, facts, knowledge);
  if (!worse && worse.error().code != ErrorCode::Cancelled) {
    context.say(fmt::format("--resolve: {}; the rest is judged as it is", worse.error().message));
    return false;
  }
  return worse;
}

}  // namespace mynah::cli
