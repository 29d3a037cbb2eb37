#include "cli/config.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/command/config_file.h"
#include "cli/command/parse.h"
#include "cli/command/program.h"

namespace mynah::cli {

namespace {

void print_text(Context& context, const Verb& verb, const Fields& fields) {
  for (const Field& field : fields.all()) {
    if (!field.flag_only) {
      context.out.line(fmt::format("{:<10} {:<30} {:<24} {}", verb.name, field.name, field.print(),
                                   name(field.origin)));
    }
  }
}

void print_json(Context& context, const Verb& verb, const Fields& fields) {
  for (const Field& field : fields.all()) {
    if (field.flag_only) {
      continue;
    }
    const nlohmann::ordered_json json = {{"verb", verb.name},
                                         {"option", field.name},
                                         {"value", field.print()},
                                         {"default", field.initial},
                                         {"origin", name(field.origin)},
                                         {"environment", field.environment_name()}};
    context.out.line(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

}  // namespace

void ConfigCommand::fields(Fields& fields) {
  fields.positional("VERB", verbs_, "Only the options of these verbs.").as_optional();
  fields.flag("markdown", markdown_, "Write docs/configuration.md.").once();
  fields.flag("man", man_, "Write the man page.").once();
  fields.flag("example", example_, "Write a configuration file with every option, commented out.")
      .once();
}

Result<int> ConfigCommand::run(Context& context) {
  std::string document;
  if (markdown_) {
    document = configuration_markdown(context.verbs);
  } else if (man_) {
    document = man_page(context.verbs);
  } else if (example_) {
    document = example_config(context.verbs);
  }
  if (!document.empty()) {
    if (context.json) {
      document = nlohmann::ordered_json{{"document", document}}.dump() + "\n";
    }
    context.out.write(document);
    return 0;
  }
  std::vector<std::string> known;
  std::ranges::transform(context.verbs, std::back_inserter(known), &Verb::name);
  for (const std::string& wanted : verbs_) {
    if (std::ranges::find(known, wanted) == known.end()) {
      return fail(ErrorCode::Usage,
                  fmt::format("there is no verb '{}'{}", wanted, suggestion(wanted, known)));
    }
  }
  MYNAH_TRY(const ConfigFile file, read_config(context.environment));
  for (const Verb& verb : context.verbs) {
    if (!verbs_.empty() && std::ranges::find(verbs_, verb.name) == verbs_.end()) {
      continue;
    }
    const auto described = describe(verb);
    MYNAH_TRY_STATUS(parse_file(described->fields, file, verb.name));
    MYNAH_TRY_STATUS(parse_environment(described->fields, context.environment));
    if (context.json) {
      print_json(context, verb, described->fields);
    } else {
      print_text(context, verb, described->fields);
    }
  }
  return 0;
}

}  // namespace mynah::cli
