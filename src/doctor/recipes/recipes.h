// Recipes: the files from which environments and images are made.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "doctor/facts.h"

namespace mynah::doctor {

// Bytes of a recipe at most: what is larger is none.
inline constexpr size_t kMostRecipeBytes = size_t{16} << 20;

// What kind of recipe a file of that name is: "requirements", "pyproject", "setup.cfg", "setup.py",
// "pipfile", "package lock", "pipfile lock", "conda lock", "conda", "dockerfile", "compose". Empty:
// none by its name.
[[nodiscard]] std::string_view kind_by_name(const std::filesystem::path& path);

// What an image is built for: a service of a compose file says it.
struct ImageBuild {
  std::string target;                            // a stage; empty: the last
  std::map<std::string, std::string> arguments;  // but for defaults
};

// Reads one from its text; `path` tells its kind, or the text does where the name is none that is
// known. Refuses what cannot be read as that kind at all. `build` is for a Dockerfile.
[[nodiscard]] Result<Recipe> parse_recipe(std::string_view text, const std::string& path,
                                          const ImageBuild& build = {});

// Reads one from a file. Named pipes, devices and files beyond kMostRecipeBytes are refused.
[[nodiscard]] Result<Recipe> read_recipe(const std::filesystem::path& path,
                                         const ImageBuild& build = {});

// Reads the recipes at `places` into `facts.recipes`, and what could not be read into
// `facts.skipped`: a place is a recipe, or a folder, which is searched a few levels deep without
// following links. What a recipe includes is read, too, each file once, also where `facts` has it
// already. How many there are at the places is returned, those that were there before among them.
size_t gather_recipes(std::span<const std::filesystem::path> places, Facts& facts);

// The same of those that lie in the folder itself: folders in it are not looked into.
void gather_recipes_of(const std::filesystem::path& folder, Facts& facts);

}  // namespace mynah::doctor
