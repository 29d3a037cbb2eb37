#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "cli/doctor/doctor_knowledge.h"
#include "cli/doctor/doctor_options.h"
#include "cli/doctor/doctor_style.h"
#include "doctor/errors/explain.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/report_text.h"
#include "doctor/watch/watch.h"
#include "doctor/watch/watch_words.h"

namespace mynah::cli {

namespace {

using doctor::Explanation;
using doctor::Watched;
using doctor::WatchEnd;

constexpr double kShortest_s = 0.1;
constexpr double kLongest_s = 7 * 24 * 3600;

Status check(const DoctorOptions& options) {
  if (options.command.empty()) {
    return fail(ErrorCode::Usage,
                "try: wanted a command behind --, such as: mynah doctor try -- python app.py");
  }
  // Not a number is neither.
  if (!(options.timeout_s >= kShortest_s && options.timeout_s <= kLongest_s)) {
    return fail(ErrorCode::Usage, fmt::format("--timeout: wanted {} to {} seconds, found {}",
                                              kShortest_s, kLongest_s, options.timeout_s));
  }
  return {};
}

// Of a name that find_program knows no program for.
std::string why_no_program(const std::string& name) {
  std::error_code error;
  if (name.find('/') == std::string::npos) {
    std::string text = fmt::format("there is no program '{}' in the folders of PATH", name);
    if (name.find(' ') != std::string::npos) {
      text += ": the command and its arguments are words of their own, as in -- python app.py";
    } else if (std::filesystem::exists(name, error)) {
      text += fmt::format(": the one in this folder is ./{}", name);
    }
    return text;
  }
  if (std::filesystem::is_directory(name, error)) {
    return fmt::format("'{}' is a folder, and no program to run", name);
  }
  if (std::filesystem::exists(name, error)) {
    return fmt::format(
        "'{}' is not marked as a program: chmod +x it, or name what runs it, as in "
        "-- python {}",
        name, name);
  }
  return fmt::format("there is no program '{}' to run", name);
}

void print(Context& context, const DoctorOptions& options, const Watched& watched,
           const std::vector<Explanation>& explanations) {
  if (context.json) {
    nlohmann::ordered_json object = doctor::watched_json(watched);
    object["command"] = options.command;
    object["explanations"] = nlohmann::ordered_json::array();
    for (const Explanation& explanation : explanations) {
      object["explanations"].push_back(doctor::explanation_json(explanation));
    }
    context.out.line(doctor::json_line(object));
    return;
  }
  // The command's own output is the result; what is said of it stands beside.
  for (const std::string& line : doctor::watched_lines(watched)) {
    context.say(doctor::printable(line));
  }
  if (!explanations.empty()) {
    context.say("what it wrote to standard error means:");
    context.err.write(doctor::explanation_text(explanations, text_style(context, options)));
    context.err.flush();
  }
}

}  // namespace

Result<int> doctor_try(Context& context, const DoctorOptions& options) {
  MYNAH_TRY_STATUS(check(options));
  const std::string& name = options.command.front();
  const std::optional<std::string> program = find_program(name);
  if (!program) {
    return fail(ErrorCode::NotFound, why_no_program(name));
  }
  context.say(fmt::format("runs {} and watches it, for {} s at most", name, options.timeout_s));
  OutputStream& out = context.json ? context.err : context.out;
  const auto pass_to = [](OutputStream& stream) {
    return [&stream](std::string_view text) {
      stream.write(text);
      stream.flush();
      return !stream.failed();
    };
  };
  const doctor::WatchRequest request{
      .command = {.program = *program,
                  .arguments = {options.command.begin() + 1, options.command.end()},
                  .environment = inherited_environment()},
      .limit = std::chrono::milliseconds(std::llround(options.timeout_s * 1000)),
      .out = pass_to(out),
      .err = pass_to(context.err),
      .stop = context.stop};
  MYNAH_TRY(const Watched watched, doctor::watch(request));
  // One that serves or asks was ended by the deadline, and is no fault.
  const bool ended_well = (watched.end == WatchEnd::Exited && watched.exit_code == 0) ||
                          watched.end == WatchEnd::Serves || watched.end == WatchEnd::Asks;
  std::vector<Explanation> explanations;
  if (!ended_well && watched.end != WatchEnd::Stopped) {
    const UsedKnowledge used = used_knowledge(context);
    explanations = doctor::explain(watched.errors, used.get());
  }
  print(context, options, watched, explanations);
  if (watched.end == WatchEnd::Stopped) {
    constexpr int kShellsSignal = 128;
    return watched.signal == 0 ? context.stopped_exit_code() : kShellsSignal + watched.signal;
  }
  if (ended_well) {
    return 0;
  }
  return watched.end == WatchEnd::Exited ? 1 : kDoctorFoundFault;
}

}  // namespace mynah::cli
