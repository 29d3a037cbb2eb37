// What readers of recipes share: where something stands, and how a requirement gets into a recipe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

namespace mynah::doctor {

// Things of one kind that a recipe may hold: what comes behind them is left out, and a doubt says
// so.
inline constexpr size_t kMostOfARecipe = 20'000;

// Says in the recipe's doubts that something could not be read for sure. Texts of files come in
// quotes and cut off (in_quotes).
void add_doubt(Recipe& recipe, uint64_t line, std::string_view what);

// What add_doubt() made one text of. Line 0: not known.
struct Doubt {
  uint64_t line = 0;
  std::string_view what;
};

[[nodiscard]] Doubt doubt_of(std::string_view text);

// Adds a requirement as a requirements file or a command writes it: PEP 508, the address or path of
// a wheel (whose name says its package and version), or a source tree. `indexes` hold for it alone.
void add_requirement(Recipe& recipe, std::string_view text, uint64_t line,
                     std::span<const std::string> indexes = {}, const std::string& group = {});

// Adds one whose parts are known.
void add_requirement(Recipe& recipe, Requirement requirement);

// Takes a file into the recipe's includes or constraints, and keeps the line that names it.
void add_include(Recipe& recipe, std::vector<std::string>& to, std::string path, uint64_t line);

// Adds extras or groups that a recipe installs of the projects that it takes in: names with commas
// or blanks between them; "*" is all.
void add_groups(Recipe& recipe, std::string_view names);

// "gpu,dev" of ".[gpu,dev]"; empty: none.
[[nodiscard]] std::string_view extras_of(std::string_view word);

// A path that a recipe names, seen from the recipe's folder, without "." and ".." where they can be
// resolved by the text alone.
[[nodiscard]] std::string beside(const std::string& recipe, std::string_view path);

// The last name of a path: "pip" of "/opt/venv/bin/pip".
[[nodiscard]] std::string last_name(std::string_view path);

// Whether a word is an address: "https://...", "git+ssh://...".
[[nodiscard]] bool is_address(std::string_view word);

// FROM of the last stage, seen through stages that it is built on. Null: there is none.
[[nodiscard]] const BaseImage* final_image(const Recipe& recipe);

// The Python that the image of a Dockerfile brings, as a specifier: an image of Python says which
// one. Empty: it is none, or does not say.
[[nodiscard]] std::string python_of_image(const Recipe& recipe);

// Words of pip's command line or of an option line in a requirements file.
struct PipWords {
  std::vector<std::string> requirements;
  std::vector<IndexLine> indexes;
  std::vector<std::string> includes;     // -r, as written
  std::vector<std::string> constraints;  // -c, as written
  std::vector<std::string> groups;       // extras and groups of the project; "*": all
  bool no_index = false;
  bool no_dependencies = false;
  std::vector<std::string> unknown;  // options that were not understood
};

// Reads them: options with values in either form ("-r x", "-rx", "--index-url=x"). uv takes the
// same ones and a few more.
[[nodiscard]] PipWords read_pip_words(std::span<const std::string> words);

// Cuts a line into words as a shell would: quotes and backslashes, no variables.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);

}  // namespace mynah::doctor
