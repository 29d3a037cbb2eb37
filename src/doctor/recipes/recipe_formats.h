// Readers of each kind of recipe, from text or a tree to facts. `recipe.path` must be set: it names
// the file, and what it includes lies beside it. What is not understood for sure is a doubt of the
// recipe; a text that is no such file at all is an error.
#pragma once

#include <string_view>

#include "base/result.h"
#include "doctor/facts.h"
#include "formats/text_tree.h"

namespace mynah::doctor {

// pyproject.toml: dependencies and optional ones (PEP 621), groups (PEP 735), and the tables of
// Poetry, uv and PDM.
void read_pyproject(const TextTree& tree, Recipe& recipe);

// Poetry's name for the group of an optional dependency, until an extra names it.
inline constexpr std::string_view kOptionalGroup = "optional";

// Poetry's table of extras, of a project or a lock: each optional dependency that they name becomes
// one requirement for each of them.
void add_poetry_extras(Recipe& recipe, const TextTree& extras);

// What a project's doubt says of dependencies that a program makes.
inline constexpr std::string_view kMadeWhileBuilt = "its dependencies are made while it is built";

// setup.cfg of setuptools: install_requires, extras_require, python_requires.
void read_setup_cfg(std::string_view text, Recipe& recipe);

// The same of what a setup.py hands to setup() as plain text. Refused with the reason where it is
// not plain what the project asks for: a program is not run.
[[nodiscard]] Status read_setup_py(std::string_view text, Recipe& recipe);

// Pipenv's Pipfile.
void read_pipfile(const TextTree& tree, Recipe& recipe);

// poetry.lock, uv.lock and pdm.lock ([[package]]), pylock.toml (PEP 751, [[packages]]).
void read_package_lock(const TextTree& tree, Recipe& recipe);

// Pipfile.lock.
void read_pipfile_lock(const TextTree& tree, Recipe& recipe);

// conda-lock.yml.
void read_conda_lock(const TextTree& tree, Recipe& recipe);

// environment.yml of conda, with its list "pip:".
void read_conda_environment(const TextTree& tree, Recipe& recipe);

// A compose file, as the Compose specification has it.
void read_compose(const TextTree& tree, Recipe& recipe);

// Gives a service what it does not say itself of the one that it extends.
void extend_service(const Service& base, Service& service);

// A file of commands for a shell, as an image runs it (recipe_script.cpp).
void read_script(std::string_view text, Recipe& recipe);

// A Dockerfile or Containerfile.
void read_dockerfile(std::string_view text, Recipe& recipe);

// One of conda's match specifications, whose pytorch is torch here: "pytorch::pytorch=2.1=*cuda*",
// "python >=3.10".
void add_conda_requirement(Recipe& recipe, std::string_view text, uint64_t line);

}  // namespace mynah::doctor
