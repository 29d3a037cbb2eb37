#include "cli/command/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/wrapped_text.h"

namespace mynah::cli {

namespace {

constexpr size_t kHelpColumn = 32;

std::string usage_line(const Verb& verb, const Fields& fields) {
  std::string line = "usage: mynah " + verb.name;
  for (const Field& field : fields.all()) {
    if (field.positional) {
      line += field.optional ? fmt::format(" [{}...]", field.name) : " " + field.name + "...";
    }
  }
  return line + " [options]\n";
}

std::string field_help(const Field& field) {
  std::string text = field.help;
  if (!field.choices.empty()) {
    text += fmt::format(" One of: {}.", fmt::join(field.choices, ", "));
  }
  const bool off = field.value.empty() && field.initial == "false";
  if (!field.positional && !field.initial.empty() && !off && field.initial != "none") {
    text += fmt::format(" [{}]", field.value.empty() ? "on" : field.initial);
  }
  return text;
}

}  // namespace

std::string flag_text(const Field& field) {
  if (field.positional) {
    return field.name;
  }
  std::string text = field.short_name == '\0' ? "" : fmt::format("-{}, ", field.short_name);
  text += field.negatable ? "--[no-]" : "--";
  text += field.name;
  if (!field.value.empty()) {
    text += " " + field.value;
  }
  return text;
}

std::string program_help(std::span<const Verb> verbs) {
  std::string text =
      "mynah: speech to text, language models and text to speech on your own machine\n\n"
      "usage: mynah VERB [options]\n\n";
  for (const Verb& verb : verbs) {
    text += fmt::format("  {:<12} {}\n", verb.name, verb.help);
  }
  return text +
         "\n'mynah VERB --help' has each verb's options, 'mynah --version' how this was built.\n";
}

std::string verb_help(const Verb& verb, const Command& command, const Fields& fields, int columns) {
  const auto width = static_cast<size_t>(std::clamp(columns, 60, 100));
  std::string text = usage_line(verb, fields) + "\n" + verb.help + "\n";
  const std::string* section = nullptr;
  for (const Field& field : fields.all()) {
    if (section == nullptr || *section != field.section) {
      section = &field.section;
      text += section->empty() ? "\n" : fmt::format("\n{}:\n", *section);
    }
    std::string line = "  " + flag_text(field);
    if (line.size() + 2 > kHelpColumn) {
      line += '\n';
      line.append(kHelpColumn, ' ');
    } else {
      line.resize(kHelpColumn, ' ');
    }
    text += line + wrapped(field_help(field), kHelpColumn, width) + "\n";
  }
  const std::string details = command.details();
  return details.empty() ? text : text + "\n" + details;
}

}  // namespace mynah::cli
