// Who installs a project, and which tables of its pyproject.toml that program reads: pip what every
// installer does, uv its own, Poetry and PDM theirs. Nobody named: all are read.
//
// A pyproject.toml that says something else to one of them is read once more for it:
// Recipe::target is that program then. Of a script it is the one that installs all that the script
// takes in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "doctor/facts.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

inline constexpr std::string_view kByPip = "pip";
inline constexpr std::string_view kByUv = "uv";
inline constexpr std::string_view kByPoetry = "poetry";  // and PDM

// Whether the tables of one of them are read of a project.
[[nodiscard]] bool reads_tables(const Recipe& project, std::string_view program);

// Whether a recipe is a project as one program reads it, beside the one that all tables are read
// of.
[[nodiscard]] bool is_project_reading(const Recipe& recipe);

// Who installs what a command takes in: "uv sync", "pip install .". `with_lock`: its verb is one
// that installs a project with its lock.
[[nodiscard]] std::string_view installer_of(const InstallStep& command, bool with_lock);

// Who installs a file that a recipe takes in at a line. `program`: who installs the recipe itself.
// Empty: it is not known.
[[nodiscard]] std::string_view installer_at(const Recipe& recipe, const IncludeLine& include,
                                            std::string_view program);

// Who installs the project that asks for a package; empty: nobody is named, or no project asks.
[[nodiscard]] std::string_view project_installer(const RecipeColumn& column, const Asked& asked);

// What is said of a project as a program reads it: which tables that passes over. Empty: none.
[[nodiscard]] std::string passed_over_tables(const Recipe& project);

// Where the command stands that an index is to be named for, as no table is read.
struct CommandPlace {
  std::string file;   // a Dockerfile, a script, an environment.yml; empty: there is no such command
  uint64_t line = 0;  // 0: not known
};

// That which installs what is asked for: what the image asks for itself, or a project that pip
// installs.
[[nodiscard]] CommandPlace command_place(const RecipeColumn& column, const Asked& asked);

// Reads the projects that recipes have one program install once more, as that reads them, where it
// makes a difference.
void add_project_readings(Facts& facts);

}  // namespace mynah::doctor
