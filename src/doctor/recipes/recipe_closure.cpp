#include "doctor/recipes/recipe_closure.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace mynah::doctor {

namespace {

std::string file_of(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

// What an image takes in of the files that it names, into one of its environments: none that its
// commands change first. Files whose lines are not known count.
class TakenIn {
 public:
  TakenIn(const Recipe& recipe, const std::string& environment) {
    for (const IncludeLine& include : recipe.include_lines) {
      const InstallStep* const step = step_of(recipe, include.step);
      files_[include.path] |=
          !include.edited &&
          (step == nullptr || (!step->aside && step->environment == environment));
    }
  }

  [[nodiscard]] bool has(const std::string& path) const {
    const auto found = files_.find(path);
    return found == files_.end() || found->second;
  }

 private:
  std::map<std::string, bool> files_;
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

std::vector<const Recipe*> RecipeFiles::closure(const Recipe& root, const std::string& environment,
                                                std::vector<const Recipe*>& constraints) const {
  std::vector<const Recipe*> all = {&root};
  std::set<const Recipe*> seen = {&root};
  for (size_t i = 0; i < all.size(); ++i) {
    const TakenIn taken(*all[i], environment);
    for (const std::string& include : all[i]->includes) {
      const Recipe* recipe = at(include);
      if (recipe != nullptr && taken.has(include) && seen.insert(recipe).second) {
        all.push_back(recipe);
      }
    }
    for (const std::string& bound : all[i]->constraints) {
      const Recipe* recipe = at(bound);
      if (recipe != nullptr && taken.has(bound) &&
          std::ranges::find(constraints, recipe) == constraints.end()) {
        constraints.push_back(recipe);
      }
    }
  }
  return all;
}

std::map<const Recipe*, const InstallStep*> RecipeFiles::steps(
    const Recipe& image, const std::string& environment) const {
  std::map<const Recipe*, const InstallStep*> found;
  for (const IncludeLine& include : image.include_lines) {
    const InstallStep* const step = step_of(image, include.step);
    const Recipe* first = at(include.path);
    if (first == nullptr || step == nullptr || step->aside || include.edited ||
        step->environment != environment) {
      continue;
    }
    std::vector<const Recipe*> none;
    for (const Recipe* recipe : closure(*first, environment, none)) {
      const InstallStep*& last = found[recipe];
      last = std::max(last, step);
    }
  }
  return found;
}

}  // namespace mynah::doctor
