// Projects of setuptools: setup.cfg and setup.py.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/package_name.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/setup_script.h"

namespace mynah::doctor {

namespace {

// "file: requirements.txt, more.txt" in place of requirements.
constexpr std::string_view kFile = "file:";

void add_files(std::string_view names, uint64_t line, Recipe& recipe) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    if (!trimmed(name).empty()) {
      add_include(recipe, recipe.includes, beside(recipe.path, trimmed(name)), line);
    }
  }
}

}  // namespace

void read_setup_cfg(std::string_view text, Recipe& recipe) {
  recipe.kind = "pyproject";
  std::string section;
  std::string key;
  uint64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    std::string_view value = trimmed(line);
    if (value.empty() || value.starts_with('#') || value.starts_with(';')) {
      continue;
    }
    if (value.starts_with('[') && value.ends_with(']')) {
      section = std::string(value.substr(1, value.size() - 2));
      key.clear();
      continue;
    }
    if (!is_blank(line.front())) {
      const size_t sign = std::min(value.find_first_of("=:"), value.size());
      key = std::string(trimmed(value.substr(0, sign)));
      value = trimmed(value.substr(std::min(sign + 1, value.size())));
    }
    if (value.empty()) {
      continue;
    }
    if (section == "options" && key == "python_requires") {
      recipe.python = std::string(value);
    } else if (section == "options" && key == "install_requires" && value.starts_with(kFile)) {
      add_files(value.substr(kFile.size()), number, recipe);
    } else if (section == "options" && key == "install_requires") {
      add_requirement(recipe, value, number);
    } else if (section == "options.extras_require") {
      add_requirement(recipe, value, number, {}, normal_name(key));
    }
  }
}

Status read_setup_py(std::string_view text, Recipe& recipe) {
  recipe.kind = "pyproject";
  const auto call = read_setup_call(text);
  if (!call) {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("{}: what it asks for was not read: {}; a setup.py is a program, and is "
                    "not run",
                    recipe.path, call.error().message));
  }
  if (call->python_requires) {
    recipe.python = std::string(call->python_requires->text);
  }
  for (const SetupText& requirement : call->install_requires) {
    add_requirement(recipe, requirement.text, requirement.line);
  }
  for (const SetupExtra& extra : call->extras_require) {
    for (const SetupText& requirement : extra.requirements) {
      add_requirement(recipe, requirement.text, requirement.line, {}, normal_name(extra.name.text));
    }
  }
  if (call->unread_extras != 0) {
    add_doubt(recipe, call->unread_extras,
              "extras_require is no plain table of texts: what its extras ask for was not read");
  }
  return {};
}

}  // namespace mynah::doctor
