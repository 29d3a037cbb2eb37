#include "cli/completion.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/command/program.h"
#include "text/languages.h"

namespace mynah::cli {

namespace {

std::string language_codes() {
  std::string codes = "auto";
  for (const Language& language : languages()) {
    codes += " " + std::string(language.code);
  }
  return codes;
}

// Words between spaces that a value can be; empty where it is free.
std::string value_words(const Field& field) {
  const std::vector<std::string>& words = field.choices.empty() ? field.offers : field.choices;
  if (!words.empty()) {
    return fmt::format("{}", fmt::join(words, " "));
  }
  return field.complete == Complete::Languages ? language_codes() : std::string();
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

// The names of pulled models, asked of mynah itself while the user waits. A line begins with the
// model's own name; those of the files it was made from follow.
constexpr std::string_view kModelNames =
    "mynah models list --json 2>/dev/null | sed -n 's/^{\"name\":\"\\([^\"]*\\)\".*/\\1/p'";

// The same of voices.
constexpr std::string_view kVoiceNames =
    "mynah voices --json 2>/dev/null | sed -n 's/^{\"voice\":\"\\([^\"]*\\)\".*/\\1/p'";

// What bash's compgen is asked for a value; empty: nothing can be offered.
std::string bash_action(const Field& field) {
  if (const std::string words = value_words(field); !words.empty()) {
    return fmt::format("-W '{}'", words);
  }
  switch (field.complete) {
    case Complete::Models:
      return fmt::format("-f -W \"$({})\"", kModelNames);
    case Complete::Voices:
      return fmt::format("-W \"$({})\"", kVoiceNames);
    case Complete::Folders:
      return "-d";
    case Complete::Files:
      return "-f";
    default:
      return {};
  }
}

// The values of an option, behind each of its names.
std::string bash_value_case(const Field& field, const std::string& verb) {
  std::string flags = fmt::format("{}:--{}", verb, field.name);
  for (const std::string& alias : field.aliases) {
    flags += fmt::format("|{}:--{}", verb, alias);
  }
  if (field.short_name != '\0') {
    flags += fmt::format("|{}:-{}", verb, field.short_name);
  }
  const std::string action = bash_action(field);
  return action.empty() ? fmt::format("    {}) return ;;\n", flags)
                        : fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n",
                                      flags, action);
}

// What stands without an option: words of its own, and names of models behind the first word where
// it takes these too ("models remove NAME"); files are what is left.
std::string bash_positional_case(const Field& field, const std::string& verb) {
  if (field.complete == Complete::Voices) {
    return fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n", verb,
                       bash_action(field));
  }
  if (field.offers.empty()) {
    return {};
  }
  const std::string words = fmt::format("'{}'", fmt::join(field.offers, " "));
  if (field.complete == Complete::Files) {
    return fmt::format(
        "    {})\n"
        "      [ \"$COMP_CWORD\" -eq 2 ] && words={} || words=\n"
        "      COMPREPLY=($(compgen -f -W \"$words\" -- \"$cur\")); return ;;\n",
        verb, words);
  }
  if (field.complete != Complete::Models) {
    return fmt::format("    {}) COMPREPLY=($(compgen -W {} -- \"$cur\")); return ;;\n", verb,
                       words);
  }
  return fmt::format(
      "    {})\n"
      "      [ \"$COMP_CWORD\" -eq 2 ] && words={} || words=$({})\n"
      "      COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return ;;\n",
      verb, words, kModelNames);
}

}  // namespace

std::string bash_completion(std::span<const Verb> verbs) {
  std::string names;
  std::string flags;
  std::string values;
  std::string positionals;
  for (const Verb& verb : verbs) {
    names += (names.empty() ? "" : " ") + verb.name;
    const auto described = describe(verb);
    std::string list;
    for (const Field& field : described->fields.all()) {
      if (field.positional) {
        positionals += bash_positional_case(field, verb.name);
        continue;
      }
      list +=
          (list.empty() ? "--" : " --") + std::string(field.negatable ? "no-" : "") + field.name;
      if (!field.value.empty()) {
        values += bash_value_case(field, verb.name);
      }
    }
    flags += fmt::format("    {}) words='{}' ;;\n", verb.name, list);
  }
  return fmt::format(
      "# bash completion of mynah: made by 'mynah completion bash'\n"
      "_mynah() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words=\n"
      // bash splits "--format=srt" at the sign.
      "  if [ \"$cur\" = = ]; then\n    cur=\n"
      "  elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
      "    prev=${{COMP_WORDS[COMP_CWORD-2]}}\n  fi\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{0} help --help --version' -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}}:$prev in\n{1}  esac\n"
      "  if [[ $cur != -* ]]; then\n"
      "    case ${{COMP_WORDS[1]}} in\n{2}"
      "    help) COMPREPLY=($(compgen -W '{0}' -- \"$cur\")); return ;;\n    esac\n"
      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{3}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "}}\n"
      "complete -o filenames -F _mynah mynah\n",
      names, values, positionals, flags);
}

std::string zsh_completion(std::span<const Verb> verbs) {
  // In _arguments specifications brackets and colons have meanings of their own.
  const auto escaped = [](const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ':' || c == '\\') {
        result += '\\';
      }
      result += c;
    }
    return result;
  };
  std::string names;
  std::string cases;
  for (const Verb& verb : verbs) {
    names += "    " + in_quotes(verb.name + ":" + escaped(verb.help)) + "\n";
    cases += fmt::format("    {})\n      _arguments -s \\\n", verb.name);
    const auto described = describe(verb);
    for (const Field& field : described->fields.all()) {
      std::string action = "_files";
      if (const std::string words = value_words(field); !words.empty()) {
        action = "(" + words + ")";
      } else if (field.complete == Complete::Folders) {
        action = "_files -/";
      } else if (field.complete == Complete::Models) {
        action = "_mynah_models";
      } else if (field.complete == Complete::Voices) {
        action = "_mynah_voices";
      } else if (field.complete == Complete::Nothing && !field.positional) {
        action = " ";
      }
      std::string spec;
      if (field.positional) {
        if (field.complete == Complete::Files && !field.offers.empty()) {
          cases += "        " +
                   in_quotes(fmt::format("1:{}:{{compadd -- {}; _files}}", escaped(field.name),
                                         fmt::join(field.offers, " "))) +
                   " \\\n";
          action = "_files";
        }
        const bool names_follow = field.complete == Complete::Models && !field.offers.empty();
        if (names_follow) {
          cases += "        " + in_quotes("1:" + escaped(field.name) + ":" + action) + " \\\n";
          action = "_mynah_models";
        }
        spec = "*:" + escaped(field.name) + ":" + action;
      } else {
        const std::string name = (field.negatable ? "--no-" : "--") + field.name;
        spec = fmt::format("[{}]", escaped(field.help));
        if (!field.value.empty()) {
          spec += ":" + escaped(field.value) + ":" + action;
        }
        const bool has_short = field.short_name != '\0';
        // Where one of the two names was said the other is not offered.
        const std::string before = field.repeated ? "*"
                                   : has_short    ? fmt::format("(-{} {})", field.short_name, name)
                                                  : "";
        if (has_short) {
          const std::string shorter = fmt::format("{}-{}{}{}", before, field.short_name,
                                                  field.value.empty() ? "" : "+", spec);
          cases += "        " + in_quotes(shorter) + " \\\n";
        }
        spec.insert(0, before + name + (field.value.empty() ? "" : "="));
      }
      cases += "        " + in_quotes(spec) + " \\\n";
    }
    cases += "        && return\n      ;;\n";
  }
  return fmt::format(
      "#compdef mynah\n# zsh completion of mynah: made by 'mynah completion zsh'\n"
      "_mynah_models() {{\n"
      "  local -a names\n  names=(${{(f)\"$({})\"}})\n"
      "  compadd \"$@\" -a names\n  _files\n"
      "}}\n"
      "_mynah_voices() {{\n"
      "  local -a names\n  names=(${{(f)\"$({})\"}})\n"
      "  compadd \"$@\" -a names\n"
      "}}\n"
      "_mynah() {{\n"
      "  local -a verbs\n  verbs=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
      "  case $verb in\n{}  esac\n"
      "}}\n"
      "if [ \"$funcstack[1]\" = _mynah ]; then\n  _mynah \"$@\"\nelse\n  compdef _mynah "
      "mynah\nfi\n",
      kModelNames, kVoiceNames, names, cases);
}

std::string fish_completion(std::span<const Verb> verbs) {
  std::string script =
      "# fish completion of mynah: made by 'mynah completion fish'\n"
      "complete -c mynah -n __fish_use_subcommand -f -l help -d 'Print help.'\n"
      "complete -c mynah -n __fish_use_subcommand -f -l version -d 'Print the version.'\n";
  for (const Verb& verb : verbs) {
    script += fmt::format("complete -c mynah -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                          in_quotes(verb.help));
    const auto described = describe(verb);
    for (const Field& field : described->fields.all()) {
      if (field.positional) {
        // fish offers files by itself.
        if (!field.offers.empty()) {
          script += fmt::format("complete -c mynah -n '__fish_seen_subcommand_from {}' -a {}\n",
                                verb.name, in_quotes(value_words(field)));
        }
        continue;
      }
      script += fmt::format("complete -c mynah -n '__fish_seen_subcommand_from {}' -l {}{}",
                            verb.name, field.negatable ? "no-" : "", field.name);
      if (field.short_name != '\0') {
        script += fmt::format(" -s {}", field.short_name);
      }
      if (!field.value.empty()) {
        const bool files = field.complete == Complete::Files || field.complete == Complete::Folders;
        script += files ? " -r" : " -x";
        if (const std::string words = value_words(field); !words.empty()) {
          script += " -a " + in_quotes(words);
        } else if (field.complete == Complete::Models) {
          script += " -a " + in_quotes(fmt::format("({})", kModelNames));
        } else if (field.complete == Complete::Voices) {
          script += " -a " + in_quotes(fmt::format("({})", kVoiceNames));
        }
      } else {
        script += " -f";
      }
      script += " -d " + in_quotes(field.help) + "\n";
    }
  }
  return script;
}

void CompletionCommand::fields(Fields& fields) {
  fields.positional("SHELL", shells_, "bash, zsh or fish.").offering({"bash", "zsh", "fish"});
}

std::string CompletionCommand::details() const {
  return "For this session: source <(mynah completion bash). For good: write it to\n"
         "~/.local/share/bash-completion/completions/mynah, to _mynah in a folder of zsh's fpath, "
         "or\n"
         "to ~/.config/fish/completions/mynah.fish.\n";
}

Result<int> CompletionCommand::run(Context& context) {
  const std::vector<std::string> known = {"bash", "zsh", "fish"};
  if (shells_.size() != 1) {
    return fail(ErrorCode::Usage, "wanted a shell: bash, zsh or fish");
  }
  const std::string& shell = shells_.front();
  std::string script;
  if (shell == "bash") {
    script = bash_completion(context.verbs);
  } else if (shell == "zsh") {
    script = zsh_completion(context.verbs);
  } else if (shell == "fish") {
    script = fish_completion(context.verbs);
  } else {
    return fail(ErrorCode::Usage, fmt::format("wanted bash, zsh or fish, found '{}'{}", shell,
                                              suggestion(shell, known)));
  }
  if (context.json) {
    script = nlohmann::ordered_json{{"shell", shell}, {"script", script}}.dump() + "\n";
  }
  context.out.write(script);
  return 0;
}

}  // namespace mynah::cli
