#include "cli/parse.h"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest_name.h"
#include "cli/program.h"
#include "cli/variables.h"

namespace mynah::cli {

namespace {

// "--max_line_width=5" to "--max-line-width=5"; other arguments as they are.
std::string hyphenated(std::string argument) {
  if (argument.starts_with("--")) {
    const size_t end = std::min(argument.find('='), argument.size());
    std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  }
  return argument;
}

// Stands for an empty value, which CLI11 takes for none.
constexpr std::string_view kEmptyValue = "\x01";

std::vector<std::string> normalised(Fields& fields, const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      std::copy(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end(),
                std::back_inserter(result));
      break;
    }
    std::string argument = hyphenated(arguments[i]);
    const Field* field =
        argument.starts_with("--") ? fields.find(std::string_view(argument).substr(2)) : nullptr;
    const bool has_next = i + 1 < arguments.size();
    if (field != nullptr && has_next) {
      const bool truth = arguments[i + 1] == "True" || arguments[i + 1] == "False";
      // A value that begins with a hyphen ("-1") must not be taken for a flag.
      if (!field->value.empty() || truth) {
        argument += "=" + arguments[++i];
      }
    }
    if (argument.starts_with("--") && argument.find('=') + 1 == argument.size()) {
      argument += kEmptyValue;
    }
    result.push_back(std::move(argument));
  }
  return result;
}

std::string option_names(const Field& field) {
  if (field.positional) {
    return field.name;
  }
  std::string names = "--" + field.name;
  for (const std::string& alias : field.aliases) {
    names += ",--" + alias;
  }
  if (field.short_name != '\0') {
    names += std::string(",-") + field.short_name;
  }
  if (field.value.empty()) {
    names += ",!--no-" + field.name;
  }
  return names;
}

Status unknown_flag(const std::string& argument, const Fields& fields) {
  std::vector<std::string> flags;
  for (const Field& field : fields.all()) {
    if (!field.positional) {
      flags.push_back("--" + field.name);
      for (const std::string& alias : field.aliases) {
        flags.push_back("--" + alias);
      }
      if (field.negatable) {
        flags.push_back("--no-" + field.name);
      }
    }
  }
  const std::string flag = argument.substr(0, argument.find('='));
  if (!flag.starts_with('-')) {
    return fail(ErrorCode::Usage, fmt::format("'{}' is one argument too many", argument));
  }
  return fail(ErrorCode::Usage, fmt::format("unknown option {}{}", flag, suggestion(flag, flags)));
}

Status set_field(Field& field, const std::vector<std::string>& values, Origin origin,
                 const std::string& called) {
  field.clear();
  for (const std::string& value : values) {
    const Status status = field.set(value);
    if (!status) {
      return fail(status.error().code, called + ": " + status.error().message);
    }
  }
  field.origin = origin;
  return {};
}

}  // namespace

Status parse_flags(Fields& fields, std::vector<std::string> arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::pair<Field*, CLI::Option*>> options;
  for (Field& field : fields.all()) {
    CLI::Option* option = nullptr;
    if (field.value.empty()) {
      option = app.add_flag(option_names(field));
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      option = app.add_option(option_names(field));
      option->type_size(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      if (field.positional) {
        option->expected(-1);
      }
    }
    options.emplace_back(&field, option);
  }

  arguments = normalised(fields, arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string_view what = mismatch.what();  // begins with the option's name
    return fail(ErrorCode::Usage, fmt::format("{} wants a value", what.substr(0, what.find(':'))));
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::Usage, error.what());
  }
  for (const std::string& argument : app.remaining()) {
    if (argument != "--") {  // the mark itself is left over too
      return unknown_flag(argument, fields);
    }
  }
  for (const auto& [field, option] : options) {
    std::vector<std::string> values = option->results();
    if (values.empty()) {
      continue;
    }
    std::ranges::replace(values, std::string(kEmptyValue), std::string());
    if (!field->repeated) {
      values.erase(values.begin(), values.end() - 1);
    }
    MYNAH_TRY_STATUS(set_field(*field, values, Origin::Flag,
                               field->positional ? field->name : "--" + field->name));
  }
  return {};
}

Status parse_environment(Fields& fields, const Environment& environment) {
  for (Field& field : fields.all()) {
    if (field.flag_only) {
      continue;
    }
    const std::string variable = field.environment_name();
    if (const auto value = environment.get(variable)) {
      MYNAH_TRY_STATUS(set_field(field, {*value}, Origin::Environment, variable));
    }
  }
  return {};
}

std::vector<std::string> unknown_variables(const Environment& environment,
                                           std::span<const Verb> verbs) {
  constexpr std::string_view kPrefix = "MYNAH_";
  // What ./dev and the tests ask for, and what is no option.
  std::vector<std::string> known = {"FAKE_CARDS",   "FAKE_FAILURES", "FAKE_MEMORY_FILE",
                                    "FAKE_VERSION", "LINT_BASE",     "ORACLES",
                                    "SHARED",       "WEIGHTS"};
  for (const Variable& variable : kVariables) {
    known.emplace_back(variable.name);
  }
  std::map<std::string, std::string> flags;  // that have no variable, by the name it would have
  for (const Verb& verb : verbs) {
    const auto described = describe(verb);
    for (const Field& field : described->fields.all()) {
      const std::string name = field.environment_name().substr(kPrefix.size());
      if (!field.flag_only) {
        known.push_back(name);
      } else if (!field.positional) {
        flags.emplace(name, field.name);
      }
    }
  }
  std::vector<std::string> lines;
  for (const std::string& variable : environment.names_with(kPrefix)) {
    const std::string name = variable.substr(kPrefix.size());
    if (std::ranges::find(known, name) != known.end()) {
      continue;
    }
    if (const auto flag = flags.find(name); flag != flags.end()) {
      lines.push_back(
          fmt::format("{} is passed over: --{} is said anew for each run", variable, flag->second));
      continue;
    }
    const auto nearest = nearest_name(name, known);
    lines.push_back(
        fmt::format("{} is passed over: no option has this variable{}", variable,
                    nearest ? fmt::format(" (did you mean {}{}?)", kPrefix, *nearest) : ""));
  }
  return lines;
}

Status parse_file(Fields& fields, const ConfigFile& config, const std::string& verb) {
  for (const ConfigEntry& entry : config.entries) {
    if (!entry.verb.empty() && entry.verb != verb) {
      continue;
    }
    Field* field = fields.find(entry.key);
    if (field == nullptr || field->flag_only) {
      continue;  // another verb's; check_config has seen that one has it
    }
    const std::string called = fmt::format("{}:{}: {}", config.path, entry.line, entry.key);
    if (!field->repeated && entry.values.size() != 1) {
      return fail(ErrorCode::Usage, called + ": wanted one value");
    }
    MYNAH_TRY_STATUS(set_field(*field, entry.values, Origin::File, called));
  }
  return {};
}

}  // namespace mynah::cli
