#include "cli/command/program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/command/error_codes.h"
#include "cli/command/help.h"
#include "cli/command/parse.h"

namespace mynah::cli {

namespace {

// What other programs call what mynah's verbs do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOthersVerbs = {
    {{"run", "chat"},
     {"ask", "chat"},
     {"list", "models"},
     {"ls", "models"},
     {"rm", "models remove"},
     {"show", "models show"}}};

// " (did you mean VERB?)", or nothing.
std::string meant_verb(const std::string& word, std::span<const Verb> verbs) {
  const auto* const known =
      std::ranges::find(kOthersVerbs, word, &std::pair<std::string_view, std::string_view>::first);
  if (known != kOthersVerbs.end()) {
    return fmt::format(" (did you mean {}?)", known->second);
  }
  std::vector<std::string> names;
  std::ranges::transform(verbs, std::back_inserter(names), &Verb::name);
  return suggestion(word, names);
}

// One line on stderr; with --json an object, so that a caller need not parse prose.
int report(const Context& context, const Error& error) {
  if (error.code == ErrorCode::Cancelled && context.stop.stop_requested()) {
    context.say("stopped");
    return context.stopped_exit_code();
  }
  const std::string where = context.verb.empty() ? "" : context.verb + ": ";
  std::string message = error.message;
  std::ranges::replace(message, '\n', ' ');
  if (context.json) {
    const nlohmann::ordered_json object = {
        {"error", {{"code", error_code_name(error.code)}, {"message", message}}}};
    context.err.line(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    context.err.line("mynah: " + where + message);
    if (error.code == ErrorCode::Usage) {
      context.err.line(
          fmt::format("Try 'mynah {}--help'.", context.verb.empty() ? "" : context.verb + " "));
    }
  }
  context.err.flush();
  return exit_code(error.code);
}

Result<int> run_verb(const Verb& verb, std::vector<std::string> arguments, Context& context) {
  bool help = false;
  const auto command = verb.make();
  Fields fields = fields_of(*command, help, context.json);
  MYNAH_TRY(arguments, command->translate(std::move(arguments), fields));
  MYNAH_TRY_STATUS(parse_flags(fields, arguments));
  // "--json" may have been another option's value.
  context.json = context.json && fields.find("json")->origin == Origin::Flag;
  if (help) {
    context.out.write(verb_help(verb, *command, fields, context.out.columns()));
    return 0;
  }
  // From weak to strong; flags are set again at the end because the file may have overwritten them.
  MYNAH_TRY(const ConfigFile config, read_config(context.environment));
  MYNAH_TRY_STATUS(check_config(config, context.verbs));
  MYNAH_TRY_STATUS(parse_file(fields, config, verb.name));
  MYNAH_TRY_STATUS(parse_environment(fields, context.environment));
  MYNAH_TRY_STATUS(parse_flags(fields, arguments));
  const Field* quiet = fields.find("quiet");
  if (quiet == nullptr || quiet->print() == "false") {
    std::ranges::for_each(unknown_variables(context.environment, context.verbs),
                          [&](const std::string& line) { context.say(line); });
  }
  return command->run(context);
}

// Says what ended stdout, unless its reader just went away.
int finish(int code, Context& context) {
  context.out.flush();
  if (context.out.closed()) {
    return code == 0 ? kClosedOutputExitCode : code;
  }
  if (context.out.failed()) {
    context.say(fmt::format("writing to standard output: {}", std::strerror(context.out.error())));
    return code == 0 ? 1 : code;
  }
  return code;
}

}  // namespace

Fields fields_of(Command& command, bool& help, bool& json) {
  Fields fields;
  command.fields(fields);
  fields.section("Common");
  fields.flag("json", json, "Print results as JSON, one object a line.").once();
  fields.flag("help", help, "Print this help.").shorter('h').once();
  return fields;
}

std::unique_ptr<DescribedVerb> describe(const Verb& verb) {
  auto described = std::make_unique<DescribedVerb>();
  described->command = verb.make();
  described->fields = fields_of(*described->command, described->help, described->json);
  return described;
}

int run_program(const std::vector<std::string>& arguments, Context& context) {
  if (arguments.empty()) {
    context.err.write(program_help(context.verbs));
    return 2;
  }
  // Known before parsing, so that an error in the rest is already told in JSON.
  // Behind "--" it is another command's.
  const auto own_end = std::ranges::find(arguments, "--");
  context.json = std::find(arguments.begin(), own_end, "--json") != own_end;
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    const bool of_a_verb =
        arguments.size() > 1 && arguments[1] != "help" && !arguments[1].starts_with('-');
    if (of_a_verb) {
      return run_program({arguments[1], "--help"}, context);
    }
    context.out.write(program_help(context.verbs));
    return finish(0, context);
  }
  if (first == "--version") {
    context.out.line(version_text(context.json));
    return finish(0, context);
  }
  const auto verb = std::ranges::find(context.verbs, first, &Verb::name);
  if (verb == context.verbs.end()) {
    std::error_code ignored;
    const bool recording = std::filesystem::exists(first, ignored);
    // whisper-cli and others have no verbs: "mynah -m tiny.en -f talk.wav".
    const bool as_peers = first.starts_with('-') && arguments.size() > 1;
    const std::string hint =
        recording || as_peers
            ? fmt::format(" (did you mean `mynah transcribe {}{}`?)", first, as_peers ? " ..." : "")
            : meant_verb(first, context.verbs);
    return report(context,
                  Error{ErrorCode::Usage, fmt::format("there is no verb '{}'{}", first, hint)});
  }
  context.verb = first;
  const Result<int> result =
      run_verb(*verb, std::vector<std::string>(arguments.begin() + 1, arguments.end()), context);
  return finish(result ? *result : report(context, result.error()), context);
}

}  // namespace mynah::cli
