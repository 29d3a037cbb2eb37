// Documents made from the table of verbs and their options, so that none of them can drift.
#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "cli/command/error_codes.h"
#include "cli/command/help.h"
#include "cli/command/program.h"
#include "cli/command/variables.h"
#include "cli/config.h"

namespace mynah::cli {

namespace {

struct ExitCode {
  std::string_view code;
  std::string_view meaning;
};

constexpr ExitCode kExitCodes[] = {
    {"0", "Done."},
    {"1", "Something failed; with several recordings, at least one did."},
    {"2",
     "The command line or the configuration cannot be understood: an option, a value or a model's "
     "name that mynah does not know."},
    {"3",
     "This machine lacks something: a model that was not pulled, a device, the network. Of `mynah "
     "doctor`: something will fail, or what it tried hangs, crashes or is slow."},
    {"129, 130, 143",
     "Ended by a closed terminal, Ctrl-C or SIGTERM; what was recognised is kept as "
     "NAME.FORMAT.partial."},
    {"141", "The reader of standard output went away."},
};

// Inside a Markdown table a bar would end the cell.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? "\\|" : c == '<' ? "&lt;" : std::string(1, c);
  }
  return result;
}

// A line that begins with a dot or a quote is a macro in man(7), and a hyphen may be typeset.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool starts = result.empty() || result.back() == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (starts && (c == '.' || c == '\'')) {
      result += std::string("\\&") + c;
    } else {
      result += c;
    }
  }
  return result;
}

std::string choices_of(const Field& field) {
  return field.choices.empty() ? "" : fmt::format(" One of: {}.", fmt::join(field.choices, ", "));
}

bool toml_needs_quotes(const Field& field) {
  const std::string& text = field.initial;
  if (field.value.empty()) {
    return false;
  }
  return text.empty() || !std::ranges::all_of(text, [](char c) {
           return is_ascii_digit(c) || c == '.' || c == '-';
         });
}

}  // namespace

std::string configuration_markdown(std::span<const Verb> verbs) {
  std::string text =
      "# Configuration\n\n"
      "Made by `mynah config --markdown`; do not edit it by hand.\n\n"
      "Every option can be given as a flag, as a variable of the environment and in the "
      "configuration file. A flag wins over the environment, the environment over the file, the "
      "file over the default. `mynah config` prints each value with its origin. Options without a "
      "variable are said anew for each run. A variable that begins with `MYNAH_` and belongs to no "
      "option is passed over with a word on standard error, which `--quiet` keeps back.\n\n"
      "The file is `$XDG_CONFIG_HOME/mynah/config.toml` (`~/.config/mynah/config.toml`), or what "
      "`MYNAH_CONFIG` names. A key at its top holds for every verb that has such an option, one in "
      "a table `[VERB]` for that verb. `mynah config --example` writes a file with every key.\n\n"
      "```toml\nlanguage = \"en\"\nthreads = 4\n\n[transcribe]\nbeam = 5\n"
      "hotwords = \"mynah, oneDNN\"\n```\n\n"
      "Models lie in `MYNAH_HOME`, or `$XDG_DATA_HOME/mynah` (`~/.local/share/mynah`); what can be "
      "made again in `$XDG_CACHE_HOME/mynah` (`~/.cache/mynah`). `~` is `HOME` or, where that is "
      "not set, the home of the password database. Where nothing can be written nothing is kept, "
      "and it is made anew each time.\n\n"
      "Variables that belong to no option:\n\n| Variable | |\n|---|---|\n";
  for (const Variable& variable : kVariables) {
    text += fmt::format("| `MYNAH_{}` | {} |\n", variable.name, variable.meaning);
  }
  for (const Verb& verb : verbs) {
    const auto described = describe(verb);
    text += fmt::format("\n## mynah {}\n\n{}\n\n", verb.name, verb.help);
    text += "| Option | Default | Environment | |\n|---|---|---|---|\n";
    for (const Field& field : described->fields.all()) {
      if (field.positional) {
        text += fmt::format("| `{}` | | | {} |\n", field.name, cell(field.help));
        continue;
      }
      text += fmt::format("| `{}` | {} | {} | {}{} |\n", flag_text(field),
                          field.initial.empty() ? "" : "`" + field.initial + "`",
                          field.flag_only ? "" : "`" + field.environment_name() + "`",
                          cell(field.help), cell(choices_of(field)));
    }
  }
  text += "\n## Exit codes\n\n| Code | Meaning |\n|---|---|\n";
  for (const ExitCode& row : kExitCodes) {
    text += fmt::format("| {} | {} |\n", row.code, row.meaning);
  }
  text +=
      "\n## Errors in JSON\n\nWith `--json` an error is a line "
      "`{\"error\":{\"code\":...,\"message\":...}}` on standard error. That of a recording, be "
      "it the only one, is in the recording's own object on standard output, and in words on "
      "standard error. Where a device ends what `speak` says, an object on standard output tells "
      "what was kept, and the line is on standard error, too.\n\n"
      "| Code | Exit code | Meaning |\n|---|---|---|\n";
  for (const ErrorName& row : kErrorNames) {
    text += fmt::format("| `{}` | {} | {} |\n", row.name, exit_code(row.code), row.meaning);
  }
  return text;
}

std::string man_page(std::span<const Verb> verbs) {
  std::string text =
      ".TH MYNAH 1\n.SH NAME\nmynah \\- speech to text, language models and text to speech on your "
      "own machine\n.SH SYNOPSIS\n.B mynah\n.I VERB\n.RI [ options ]\n.SH VERBS\n";
  for (const Verb& verb : verbs) {
    const auto described = describe(verb);
    text += fmt::format(".SS mynah {}\n{}\n", roff(verb.name), roff(verb.help));
    for (const Field& field : described->fields.all()) {
      text += ".TP\n.B " + roff(flag_text(field)) + "\n" + roff(field.help + choices_of(field));
      if (!field.positional && !field.initial.empty() && field.initial != "false") {
        text += " Default: " + roff(field.initial) + ".";
      }
      text += "\n";
    }
    if (const std::string details = described->command->details(); !details.empty()) {
      text += ".PP\n.nf\n" + roff(details) + ".fi\n";
    }
  }
  text += ".SH EXIT STATUS\n";
  for (const ExitCode& row : kExitCodes) {
    text += fmt::format(".TP\n.B {}\n{}\n", row.code, roff(std::string(row.meaning)));
  }
  text +=
      ".SH ENVIRONMENT\nEach option may be set as MYNAH_OPTION, in capitals and with "
      "underscores.\n";
  for (const Variable& variable : kVariables) {
    text +=
        fmt::format(".TP\n.B MYNAH_{}\n{}\n", variable.name, roff(std::string(variable.meaning)));
  }
  text +=
      ".TP\n.B NO_COLOR\nWhere set, nothing is coloured.\n"
      ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/mynah/config.toml\nOptions, as mynah config "
      "\\-\\-example "
      "shows.\n";
  return text;
}

std::string example_config(std::span<const Verb> verbs) {
  std::string text =
      "# mynah's options. What stands above the first table holds for every verb.\n"
      "# Remove the # before a line to change its value; each shows the default.\n";
  for (const Verb& verb : verbs) {
    const auto described = describe(verb);
    std::string table;
    for (const Field& field : described->fields.all()) {
      if (field.flag_only) {
        continue;
      }
      const std::string quote = toml_needs_quotes(field) ? "\"" : "";
      table += fmt::format("\n# {}{}\n# {} = {}{}{}\n", field.help, choices_of(field), field.name,
                           quote, field.initial, quote);
    }
    if (!table.empty()) {
      text += fmt::format("\n[{}]\n{}", verb.name, table);
    }
  }
  return text;
}

}  // namespace mynah::cli
