// What a command installs: pip, uv, conda and their kin.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "doctor/facts.h"
#include "doctor/recipes/install_environment.h"
#include "doctor/recipes/shell_text.h"

namespace mynah::doctor {

// Where a command's files lie beside the recipe: it names "/tmp/requirements.txt" inside an image.
using PlaceOf = std::function<std::string(std::string_view)>;

// What holds around a command.
struct CommandSetting {
  std::map<std::string, std::string> variables;  // set around it
  PlaceOf place_of;
  InstallPlace place;
};

// Adds to the recipe what a command installs, with the indexes that it names and the files that it
// reads; and the command itself to `builds` where it compiles device code. How it installs, and
// what it removes, is set in `step`.
void read_command(const ShellCommand& command, uint64_t line, const CommandSetting& setting,
                  Recipe& recipe, InstallStep& step);

// The file of commands that a shell is to run, or that is run by itself: "install.sh" of "bash -e
// install.sh". None: there is none, or it is one that is known to bring a Python or tools alone.
[[nodiscard]] std::optional<std::string> script_of(const ShellCommand& command);

// Whether a word is a shell: "/bin/bash".
[[nodiscard]] bool is_shell(std::string_view word);

// Whether a variable of pip or uv names indexes: "PIP_EXTRA_INDEX_URL".
[[nodiscard]] bool names_index(std::string_view variable);

// An index that a variable of pip or uv names ("PIP_EXTRA_INDEX_URL"), added to the recipe.
void read_index_variable(const std::string& name, const std::string& value, uint64_t line,
                         Recipe& recipe);

}  // namespace mynah::doctor
