#include "cli/doctor/doctor.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mynah::cli {

namespace {

constexpr std::string_view kCommandMark = "--";

// What the first word may be instead of a place.
constexpr std::array<std::string_view, 5> kActions = {"explain", "plan", "compare", "update",
                                                      "try"};

// An option that was given, and the actions that take it; "" is a look at places.
struct GivenOption {
  std::string_view name;
  bool given;
  std::vector<std::string_view> actions;
};

// An option whose value must say something: an empty one is mostly a variable of a script that was
// not set, and would be judged as if the option were not there.
void want_value(Fields& fields, std::string_view name) {
  Field& field = *fields.find(name);
  field.set = [set = field.set, value = field.value](const std::string& text) -> Status {
    if (text.find_first_not_of(" ,") == std::string::npos) {
      return fail(ErrorCode::Usage, fmt::format("wanted {}, found nothing", value));
    }
    return set(text);
  };
}

}  // namespace

void DoctorCommand::fields(Fields& fields) {
  fields
      .positional("PLACE", words_,
                  "Environments, projects, recipes, wheels and toolkits to look at; none: the "
                  "environments and toolkits of this machine, and the recipes of this folder. Or "
                  "explain, plan, compare, update or try, see below.")
      .as_optional()
      .offering({kActions.begin(), kActions.end()})
      .completes(Complete::Files);
  fields.section("Look");
  fields
      .option("as", "FACTS.json", options_.as,
              "Reason about another machine, by what --facts wrote there (-: standard input): of "
              "what lies there, or with PLACEs of those here.")
      .completes(Complete::Files)
      .once();
  // A card in the environment would be judged in place of the one that is there, unseen.
  fields
      .list("gpu", "CARD", options_.gpus,
            "Reason about a machine with this card, by its name or compute capability; several: "
            "with all of them.")
      .once();
  fields
      .option("driver", "VERSION", options_.driver,
              "With this driver of NVIDIA's, in place of the one that is there.")
      .once();
  fields.flag("facts", options_.facts, "Print what there is, as JSON, and judge nothing.").once();
  fields
      .option("html", "FILE", options_.html,
              "Write the report as a page to attach to a bug, too; -: to standard output.")
      .completes(Complete::Files)
      .once();
  fields
      .flag(
          "redact", options_.redact,
          "Leave out paths, the user's and the host's name, passwords; the same path has the same "
          "stand-in everywhere.")
      .once();
  fields
      .flag("resolve", options_.resolve,
            "Ask the environment's own pip, by a dry run, what installing the requirements files "
            "would replace and break.")
      .once();
  fields
      .flag("strict", options_.strict,
            "What is unknown counts as what fails: exit code 3. Warnings never do.")
      .once();
  fields.flag("all", options_.all, "Show what is good and mere notes, too.").shorter('v').once();
  fields.section("Actions");
  fields
      .option("want", "PACKAGES", options_.want,
              "plan: what is to work together, as in faster-whisper,torch>=2.4.")
      .once();
  fields.option("python", "VERSION", options_.python, "plan: for this Python, as in 3.11.").once();
  fields.flag("dockerfile", options_.dockerfile, "plan: print lines of a Dockerfile.").once();
  fields.flag("show", options_.show, "update: say which knowledge is in use.").once();
  fields
      .time("timeout", options_.timeout_s,
            "try: seconds until a command that has not ended is judged.")
      .once();
  for (const std::string_view name : {"as", "html", "gpu", "driver", "want", "python"}) {
    want_value(fields, name);
  }
}

std::string DoctorCommand::details() const {
  return "Nothing of what is looked at is run or imported, but pip with --resolve. The exit code "
         "is 0 "
         "where\n"
         "nothing will fail, 3 where something will, 1 where the doctor itself failed.\n"
         "\n"
         "Actions:\n"
         "  explain TEXT        what an error's text, a file of it, or a log on standard input "
         "(-)\n"
         "                      means, and what mends it; 1 where nothing of it is known\n"
         "  plan                exact versions that work together on a card (--gpu, --driver, "
         "--want), as a\n"
         "                      requirements file or a Dockerfile; 3 where there are none, with "
         "the "
         "smallest\n"
         "                      change that makes some\n"
         "  compare A B         what differs between two environments, lock files, trees or files "
         "of "
         "facts,\n"
         "                      what breaks, and the steps from one to the other; 3 where "
         "something "
         "breaks\n"
         "  update FILE         use newer knowledge of cards, drivers and packages\n"
         "  update --show       which knowledge is in use\n"
         "  try -- COMMAND ...  run a command, watch it, and say whether it hangs, crashes or is "
         "slow, and\n"
         "                      where: 3 then, 0 where it ended well, 1 where it says that it "
         "failed. All\n"
         "                      that it started is ended with it\n"
         "A place that is called as an action is meant by ./NAME.\n";
}

Result<std::vector<std::string>> DoctorCommand::translate(std::vector<std::string> arguments,
                                                          const Fields& /*fields*/) {
  // What stands behind "--" is a command with options of its own, which are not the doctor's.
  const auto action = std::ranges::find_if(
      arguments, [](const std::string& word) { return !word.starts_with('-'); });
  const auto mark = std::ranges::find(arguments, kCommandMark);
  if (action < mark && *action == "try" && mark != arguments.end()) {
    options_.command.assign(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
  }
  return arguments;
}

Result<int> DoctorCommand::run(Context& context) {
  Result<int> code = dispatch(context);
  // 3 says that something was found; the doctor's own failures are 1.
  if (!code && exit_code(code.error().code) == kDoctorFoundFault) {
    code.error().code = ErrorCode::Io;
  }
  return code;
}

Result<int> DoctorCommand::dispatch(Context& context) const {
  const bool is_action =
      !words_.empty() && std::ranges::find(kActions, words_.front()) != kActions.end();
  const std::string action = is_action ? words_.front() : "";
  const std::array<GivenOption, 14> given = {
      {{"--as", !options_.as.empty(), {"", "plan", "compare"}},
       {"--gpu", !options_.gpus.empty(), {"", "plan", "compare"}},
       {"--driver", !options_.driver.empty(), {"", "plan", "compare"}},
       {"--want", !options_.want.empty(), {"plan"}},
       {"--python", !options_.python.empty(), {"plan"}},
       {"--dockerfile", options_.dockerfile, {"plan"}},
       {"--facts", options_.facts, {""}},
       {"--html", !options_.html.empty(), {""}},
       {"--redact", options_.redact, {""}},
       {"--strict", options_.strict, {""}},
       {"--resolve", options_.resolve, {""}},
       {"--all", options_.all, {"", "explain", "try"}},
       {"--show", options_.show, {"update"}},
       {"--timeout", options_.timeout_s != DoctorOptions().timeout_s, {"try"}}}};
  for (const GivenOption& option : given) {
    if (option.given && std::ranges::find(option.actions, action) == option.actions.end()) {
      return fail(ErrorCode::Usage,
                  action.empty() ? fmt::format("{} is of `mynah doctor {}`", option.name,
                                               fmt::join(option.actions, "` and `mynah doctor "))
                                 : fmt::format("{} has no {}", action, option.name));
    }
  }
  const std::vector<std::string> words(words_.begin() + (is_action ? 1 : 0), words_.end());
  if (action == "explain") {
    return doctor_explain(context, words, options_);
  }
  if (action == "plan") {
    if (!words.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("plan takes no places: say --want {}", fmt::join(words, ",")));
    }
    return doctor_plan(context, options_);
  }
  if (action == "compare") {
    return doctor_compare(context, words, options_);
  }
  if (action == "update") {
    return doctor_update(context, words, options_);
  }
  if (action == "try") {
    if (!words.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("try: the command stands behind --: mynah doctor try -- {} ...",
                              words.front()));
    }
    return doctor_try(context, options_);
  }
  return doctor_look(context, words, options_);
}

}  // namespace mynah::cli
