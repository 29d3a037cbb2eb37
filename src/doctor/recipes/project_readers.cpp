#include "doctor/recipes/project_readers.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "doctor/recipes/recipe_closure.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipes.h"

namespace mynah::doctor {

bool reads_tables(const Recipe& project, std::string_view program) {
  return project.target.empty() || project.target == program;
}

bool is_project_reading(const Recipe& recipe) {
  return recipe.kind == "pyproject" && !recipe.target.empty();
}

std::string_view installer_of(const InstallStep& command, bool with_lock) {
  return command.uv ? kByUv : with_lock ? kByPoetry : kByPip;
}

std::string_view installer_at(const Recipe& recipe, const IncludeLine& include,
                              std::string_view program) {
  if (recipe.kind == "conda") {
    return kByPip;
  }
  if (recipe.kind == "script") {
    return recipe.target;
  }
  const InstallStep* const step = step_of(recipe, include.step);
  if (recipe.kind != "dockerfile" || step == nullptr) {
    return program;
  }
  return installer_of(*step, !include.made_of.empty() || is_lock(include.path));
}

namespace {

// Whether all that a command of an image takes in is pip's to install.
bool is_of_pip(const Recipe& image, const InstallStep* command) {
  return std::ranges::none_of(image.include_lines, [&](const IncludeLine& include) {
    return step_of(image, include.step) == command && installer_at(image, include, {}) != kByPip;
  });
}

}  // namespace

CommandPlace command_place(const RecipeColumn& column, const Asked& asked) {
  const Recipe& recipe = *asked.recipe;
  if (recipe.kind == "dockerfile") {
    return {.file = recipe.path, .line = asked.requirement->command_line()};
  }
  if (recipe.kind != "pyproject" || (is_project_reading(recipe) && recipe.target != kByPip)) {
    return {};
  }
  if (const Recipe* const image = column.dockerfile()) {
    const bool by_pip = asked.how != nullptr && is_of_pip(*image, asked.how);
    return by_pip ? CommandPlace{.file = image->path, .line = asked.how->line} : CommandPlace();
  }
  const auto taker = std::ranges::find_if(column.recipes, [&](const Recipe* other) {
    return std::ranges::find(other->includes, recipe.path) != other->includes.end() &&
           installer_at(*other, {}, {}) == kByPip;
  });
  return taker == column.recipes.end() ? CommandPlace() : CommandPlace{.file = (*taker)->path};
}

void add_project_readings(Facts& facts) {
  std::set<std::pair<const Recipe*, std::string_view>> projects;
  const RecipeFiles files(facts);
  const auto add = [&](const Recipe& first, const std::string& environment,
                       std::string_view program) {
    std::vector<const Recipe*> bounds;
    for (const TakenFile& file : files.taken_files(first, environment, bounds, program)) {
      if (file.recipe->kind == "pyproject" && !file.program.empty()) {
        projects.emplace(file.recipe, file.program);
      }
    }
  };
  for (const Recipe& recipe : facts.recipes) {
    if (recipe.kind == "conda" || recipe.kind == "script") {
      add(recipe, "", {});
    }
    for (const IncludeLine& include : recipe.include_lines) {
      const Recipe* const first = files.at(include.path);
      const InstallStep* const step = step_of(recipe, include.step);
      if (first != nullptr && step != nullptr && !include.edited) {
        add(*first, step->environment, installer_at(recipe, include, {}));
      }
    }
  }
  std::vector<Recipe> readings;
  for (const auto& [project, program] : projects) {
    if (is_project_reading(*project)) {
      continue;  // it is there
    }
    auto reading = read_recipe(project->path, {.target = std::string(program), .arguments = {}});
    if (!reading) {
      continue;
    }
    reading->includes = project->includes;
    Recipe plain = *reading;
    plain.target.clear();
    if (plain != *project) {
      readings.push_back(*std::move(reading));
    }
  }
  std::ranges::move(readings, std::back_inserter(facts.recipes));
}

}  // namespace mynah::doctor
