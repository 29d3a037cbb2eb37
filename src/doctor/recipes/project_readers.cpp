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

// What takes a project in where there is no image: a script, an environment of conda's.
const Recipe* taker_of(const RecipeColumn& column, const Recipe& project) {
  const auto taker = std::ranges::find_if(column.recipes, [&](const Recipe* other) {
    return std::ranges::find(other->includes, project.path) != other->includes.end();
  });
  return taker == column.recipes.end() ? nullptr : *taker;
}

}  // namespace

std::string_view project_installer(const RecipeColumn& column, const Asked& asked) {
  const Recipe& project = *asked.recipe;
  if (project.kind != "pyproject" || is_project_reading(project)) {
    return project.kind == "pyproject" ? std::string_view(project.target) : std::string_view();
  }
  const Recipe* const image = column.dockerfile();
  if (image == nullptr) {
    const Recipe* const taker = taker_of(column, project);
    return taker == nullptr ? std::string_view() : installer_at(*taker, {}, {});
  }
  // What a command takes in is all of one installer.
  const auto include = std::ranges::find_if(image->include_lines, [&](const IncludeLine& line) {
    return asked.how != nullptr && step_of(*image, line.step) == asked.how;
  });
  return include == image->include_lines.end() ? std::string_view()
                                               : installer_at(*image, *include, {});
}

std::string passed_over_tables(const Recipe& project) {
  if (!is_project_reading(project)) {
    return {};
  }
  return project.target == kByPip
             ? "pip installs it, which reads no table of uv's, Poetry's or PDM's: not "
               "[tool.uv.sources], and no index that one names"
         : project.target == kByUv
             ? "uv installs it, which reads no index of Poetry's or PDM's tables"
             : "Poetry or PDM installs it, which reads no table of uv's: not [tool.uv.sources], "
               "and "
               "no index of [[tool.uv.index]]";
}

CommandPlace command_place(const RecipeColumn& column, const Asked& asked) {
  if (asked.recipe->kind == "dockerfile") {
    return {.file = asked.recipe->path, .line = asked.requirement->command_line()};
  }
  if (project_installer(column, asked) != kByPip) {
    return {};
  }
  if (const Recipe* const image = column.dockerfile()) {
    return asked.how == nullptr ? CommandPlace()
                                : CommandPlace{.file = image->path, .line = asked.how->line};
  }
  const Recipe* const taker = taker_of(column, *asked.recipe);
  return taker == nullptr ? CommandPlace() : CommandPlace{.file = taker->path};
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
