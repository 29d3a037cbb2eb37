#include "cli/command/parse.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"
#include "cli/command/program.h"
#include "cli/command/variables.h"

namespace mynah::cli {

namespace {

Status unknown_flag(const std::string& flag, const Fields& fields) {
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
  if (flag.find(' ') != std::string::npos) {
    return fail(
        ErrorCode::Usage,
        fmt::format("there is no option '{}': put -- before text that begins with a hyphen", flag));
  }
  return fail(ErrorCode::Usage, fmt::format("unknown option {}{}", flag, suggestion(flag, flags)));
}

// One option or positional argument as the command line has it.
struct Given {
  Field* field = nullptr;
  std::string value;
};

// Names of options begin with a letter. What else stands behind a hyphen is text: "-5", "- no",
// "-- no", a lone "-".
bool is_option(std::string_view argument) {
  const size_t hyphens = argument.starts_with("--") ? 2 : 1;
  const char first = argument.size() > hyphens ? argument[hyphens] : ' ';
  return argument.starts_with('-') && (is_ascii_letter(first) || first == '?');
}

// A value's text goes to the option as it was written, whatever is in it: brackets, commas, quotes,
// hyphens, or nothing at all.
class CommandLine {
 public:
  CommandLine(Fields& fields, const std::vector<std::string>& arguments)
      : fields_(fields), arguments_(arguments) {}

  Result<std::vector<Given>> read() {
    bool options = true;
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (options && argument == "--") {
        options = false;
      } else if (options && is_option(argument)) {
        MYNAH_TRY_STATUS(argument.starts_with("--") ? read_long(argument) : read_short(argument));
      } else {
        MYNAH_TRY_STATUS(read_positional(argument));
      }
    }
    return std::move(given_);
  }

 private:
  Status read_positional(const std::string& argument) {
    const auto field = std::ranges::find_if(fields_.all(), &Field::positional);
    if (field == fields_.all().end()) {
      return fail(ErrorCode::Usage, fmt::format("'{}' is one argument too many", argument));
    }
    given_.push_back({.field = &*field, .value = argument});
    return {};
  }

  // --name VALUE, --name=VALUE, --switch, --no-switch, --switch=true.
  Status read_long(const std::string& argument) {
    const size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::ranges::replace(name, '_', '-');
    Field* field = fields_.find(name);
    bool negated = false;
    if (field == nullptr && name.starts_with("no-")) {
      field = fields_.find(std::string_view(name).substr(3));
      negated = field != nullptr && field->value.empty();
      field = negated ? field : nullptr;
    }
    if (field == nullptr) {
      return unknown_flag("--" + name, fields_);
    }
    const bool is_switch = field->value.empty();
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (next_ < arguments_.size() &&
               (!is_switch || arguments_[next_] == "True" || arguments_[next_] == "False")) {
      value = arguments_[next_++];
    }
    if (!value && !is_switch) {
      return fail(ErrorCode::Usage, fmt::format("--{} wants a value", field->name));
    }
    if (negated) {
      const auto truth = parse_switch(value.value_or("true"));
      if (!truth) {
        return fail(ErrorCode::Usage, fmt::format("--{}: {}", name, truth.error().message));
      }
      value = *truth ? "false" : "true";
    }
    given_.push_back({.field = field, .value = value.value_or("true")});
    return {};
  }

  // -n VALUE, -nVALUE, -s, and several switches with or without such an option behind: -sn VALUE.
  Status read_short(const std::string& argument) {
    for (size_t i = 1; i < argument.size(); ++i) {
      const auto field = std::ranges::find(fields_.all(), argument[i], &Field::short_name);
      if (field == fields_.all().end()) {
        return unknown_flag("-" + argument.substr(i), fields_);
      }
      if (field->value.empty()) {
        given_.push_back({.field = &*field, .value = "true"});
        continue;
      }
      const bool apart = i + 1 == argument.size();
      if (apart && next_ == arguments_.size()) {
        return fail(ErrorCode::Usage, fmt::format("--{} wants a value", field->name));
      }
      given_.push_back(
          {.field = &*field, .value = apart ? arguments_[next_++] : argument.substr(i + 1)});
      break;
    }
    return {};
  }

  Fields& fields_;
  const std::vector<std::string>& arguments_;
  size_t next_ = 0;
  std::vector<Given> given_;
};

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

Status parse_flags(Fields& fields, const std::vector<std::string>& arguments) {
  MYNAH_TRY(const std::vector<Given> given, CommandLine(fields, arguments).read());
  for (Field& field : fields.all()) {
    std::vector<std::string> values;
    for (const Given& one : given) {
      if (one.field == &field) {
        values.push_back(one.value);
      }
    }
    if (values.empty()) {
      continue;
    }
    // An output without a name would go elsewhere: -o "$OUT" of a variable that is not set.
    const bool file = field.complete == Complete::Files || field.complete == Complete::Folders;
    if (file && field.flag_only && !field.positional &&
        std::ranges::find(values, "") != values.end()) {
      return fail(ErrorCode::Usage, fmt::format("--{}: wanted a name, found nothing", field.name));
    }
    if (!field.repeated) {
      // A value that is for this run alone, such as a file's name, is not meant to be replaced.
      const auto other = std::ranges::find_if(
          values, [&](const std::string& value) { return value != values.front(); });
      if (field.flag_only && !field.value.empty() && other != values.end()) {
        return fail(ErrorCode::Usage,
                    fmt::format("--{} was given more than once, as '{}' and as '{}': wanted one",
                                field.name, values.front(), *other));
      }
      values.erase(values.begin(), values.end() - 1);
    }
    MYNAH_TRY_STATUS(
        set_field(field, values, Origin::Flag, field.positional ? field.name : "--" + field.name));
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
  std::vector<std::string> known = {"API_KEYS",         "FAKE_CARDS",   "FAKE_FAILURES",
                                    "FAKE_MEMORY_FILE", "FAKE_VERSION", "LINT_BASE",
                                    "ORACLES",          "SHARED",       "WEIGHTS"};
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
