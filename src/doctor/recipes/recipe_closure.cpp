#include "doctor/recipes/recipe_closure.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "doctor/recipes/project_readers.h"

namespace mynah::doctor {

namespace {

std::string file_of(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

// What an image takes in of the files that it names, into one of its environments: none that its
// commands change first. Files whose lines are not known count.
class TakenIn {
 public:
  // `program`: who installs the recipe.
  TakenIn(const Recipe& recipe, const std::string& environment, std::string_view program)
      : of_others_(installer_at(recipe, {}, program)) {
    for (const IncludeLine& include : recipe.include_lines) {
      const InstallStep* const step = step_of(recipe, include.step);
      Named& named = files_[include.path];
      const bool again = named.taken && step != nullptr && step->alone;
      if (!include.edited && !again &&
          (step == nullptr || (!step->aside && step->environment == environment))) {
        named = {.taken = true, .program = installer_at(recipe, include, program)};
      }
    }
  }

  [[nodiscard]] bool has(const std::string& path) const {
    const auto found = files_.find(path);
    return found == files_.end() || found->second.taken;
  }

  // Who installs a file: of several commands the last, but for those that leave out what it asks
  // for.
  [[nodiscard]] std::string_view program_of(const std::string& path) const {
    const auto found = files_.find(path);
    return found == files_.end() ? of_others_ : found->second.program;
  }

 private:
  struct Named {
    bool taken = false;
    std::string_view program;
  };

  std::string_view of_others_;
  std::map<std::string, Named> files_;
};

}  // namespace

const InstallStep* step_of(const Recipe& recipe, uint64_t number) {
  return number == 0 || number > recipe.steps.size() ? nullptr : &recipe.steps[number - 1];
}

RecipeFiles::RecipeFiles(const Facts& facts) {
  for (const Recipe& recipe : facts.recipes) {
    by_path_[file_of(recipe.path)].push_back(&recipe);
  }
}

const Recipe* RecipeFiles::at(const std::string& path) const {
  const auto found = by_path_.find(file_of(path));
  return found == by_path_.end() ? nullptr : found->second.front();
}

const Recipe* RecipeFiles::at(const std::string& path, std::string_view program) const {
  const std::vector<const Recipe*>& all = all_at(path);
  const auto own = std::ranges::find_if(all, [&](const Recipe* recipe) {
    return is_project_reading(*recipe) && recipe->target == program;
  });
  return own != all.end() ? *own : at(path);
}

const Recipe* RecipeFiles::built(const Service& service) const {
  const auto found = by_path_.find(file_of(service.build));
  if (service.build.empty() || found == by_path_.end()) {
    return nullptr;
  }
  const auto same = std::ranges::find_if(found->second, [&](const Recipe* recipe) {
    return recipe->target == service.target && recipe->arguments == service.arguments;
  });
  return same == found->second.end() ? nullptr : *same;
}

const std::vector<const Recipe*>& RecipeFiles::all_at(const std::string& path) const {
  static const std::vector<const Recipe*> kNone;
  const auto found = by_path_.find(file_of(path));
  return found == by_path_.end() ? kNone : found->second;
}

std::vector<TakenFile> RecipeFiles::taken_files(const Recipe& root, const std::string& environment,
                                                std::vector<const Recipe*>& constraints,
                                                std::string_view program) const {
  std::vector<TakenFile> all = {{.recipe = &root, .program = program}};
  std::set<const Recipe*> seen = {&root};
  for (size_t i = 0; i < all.size(); ++i) {
    const Recipe& recipe = *all[i].recipe;
    const TakenIn taken(recipe, environment, all[i].program);
    for (const std::string& include : recipe.includes) {
      const std::string_view by = taken.program_of(include);
      const Recipe* const other = at(include, by);
      if (other != nullptr && taken.has(include) && seen.insert(other).second) {
        all.push_back({.recipe = other, .program = by});
      }
    }
    for (const std::string& bound : recipe.constraints) {
      const Recipe* const other = at(bound);
      if (other != nullptr && taken.has(bound) &&
          std::ranges::find(constraints, other) == constraints.end()) {
        constraints.push_back(other);
      }
    }
  }
  return all;
}

std::vector<const Recipe*> RecipeFiles::closure(const Recipe& root, const std::string& environment,
                                                std::vector<const Recipe*>& constraints) const {
  std::vector<const Recipe*> all;
  for (const TakenFile& file : taken_files(root, environment, constraints, {})) {
    all.push_back(file.recipe);
  }
  return all;
}

std::map<const Recipe*, const InstallStep*> RecipeFiles::steps(
    const Recipe& image, const std::string& environment) const {
  std::map<const Recipe*, const InstallStep*> found;
  for (const IncludeLine& include : image.include_lines) {
    const InstallStep* const step = step_of(image, include.step);
    const std::string_view program = installer_at(image, include, {});
    const Recipe* const first = at(include.path, program);
    if (first == nullptr || step == nullptr || step->aside || include.edited ||
        step->environment != environment) {
      continue;
    }
    std::vector<const Recipe*> none;
    for (const TakenFile& file : taken_files(*first, environment, none, program)) {
      const InstallStep*& last = found[file.recipe];
      // What leaves out what a file asks for is not what installs that, where another does.
      const bool differ = last != nullptr && last->alone != step->alone;
      last = !differ ? std::max(last, step) : last->alone ? step : last;
    }
  }
  return found;
}

}  // namespace mynah::doctor
