#include "doctor/recipes/recipe_runs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace mynah::doctor {

namespace {

std::string plain_path(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

using ByPath = std::map<std::string, const Recipe*>;

// Recipes of the column that a file takes in, itself included.
std::set<const Recipe*> taken_in(const ByPath& recipes, const std::string& first) {
  std::set<const Recipe*> taken;
  std::vector<std::string> waiting = {first};
  while (!waiting.empty()) {
    const auto recipe = recipes.find(plain_path(waiting.back()));
    waiting.pop_back();
    if (recipe != recipes.end() && taken.insert(recipe->second).second) {
      const std::vector<std::string>& more = recipe->second->includes;
      waiting.insert(waiting.end(), more.begin(), more.end());
    }
  }
  return taken;
}

template <class Visit>
void each_asked(const RecipeColumn& column, const Visit& visit) {
  for (const auto& [name, all] : column.packages) {
    for (const Asked& asked : all) {
      visit(asked);
    }
  }
  for (const Asked& asked : column.passing) {
    visit(asked);
  }
}

void add_indexes(InstallRun& run, const Recipe& recipe) {
  for (const IndexLine& index : recipe.indexes) {
    if (!index.explicit_) {
      run.indexes.push_back(&index);
    }
  }
}

std::vector<InstallRun> runs_of_image(const RecipeColumn& column, const Recipe& dockerfile) {
  // Commands that begin in one line and look at the same indexes are one here.
  std::map<std::pair<uint64_t, std::vector<std::string>>, InstallRun> commands;
  each_asked(column, [&](const Asked& asked) {
    if (asked.recipe == &dockerfile) {
      commands[{asked.requirement->command_line(), asked.requirement->indexes}].asked.push_back(
          &asked);
    }
  });
  std::vector<InstallRun> runs;
  for (auto& [place, run] : commands) {
    for (const IndexLine& index : dockerfile.indexes) {
      if (!index.one_command) {
        run.indexes.push_back(&index);
      }
    }
    runs.push_back(std::move(run));
  }
  ByPath recipes;
  for (const Recipe* recipe : column.recipes) {
    recipes.emplace(plain_path(recipe->path), recipe);
  }
  std::set<std::string> seen;
  for (const std::string& include : dockerfile.includes) {
    const std::set<const Recipe*> taken =
        seen.insert(include).second ? taken_in(recipes, include) : std::set<const Recipe*>();
    if (taken.empty()) {
      continue;
    }
    InstallRun run;
    each_asked(column, [&](const Asked& asked) {
      if (taken.contains(asked.recipe)) {
        run.asked.push_back(&asked);
      }
    });
    for (const Recipe* recipe : taken) {
      add_indexes(run, *recipe);
    }
    const auto named = std::ranges::find(dockerfile.include_lines, include, &IncludeLine::path);
    for (const IndexLine& index : dockerfile.indexes) {
      if (!index.one_command ||
          (named != dockerfile.include_lines.end() && named->line == index.line)) {
        run.indexes.push_back(&index);
      }
    }
    runs.push_back(std::move(run));
  }
  for (InstallRun& run : runs) {
    run.in_image = true;
  }
  return runs;
}

}  // namespace

std::vector<std::string> InstallRun::urls(const Requirement& requirement) const {
  std::vector<std::string> all = requirement.indexes;
  for (const IndexLine* index : indexes) {
    all.push_back(index->url);
  }
  return all;
}

bool InstallRun::keeps_python_index(const Requirement& requirement) const {
  return !requirement.replaces_index &&
         std::ranges::all_of(indexes, [](const IndexLine* index) { return index->extra; });
}

std::vector<InstallRun> install_runs(const RecipeColumn& column) {
  const Recipe* const dockerfile = column.dockerfile();
  if (dockerfile != nullptr) {
    return runs_of_image(column, *dockerfile);
  }
  InstallRun run;
  each_asked(column, [&](const Asked& asked) { run.asked.push_back(&asked); });
  for (const Recipe* recipe : column.recipes) {
    add_indexes(run, *recipe);
  }
  return {std::move(run)};
}

bool says_all(const RecipeColumn& column) {
  static constexpr std::array<std::string_view, 5> kPlainImages = {
      "python", "debian", "ubuntu", "nvidia/cuda", "pytorch/pytorch"};
  const std::string image = column.image.substr(0, column.image.rfind(':'));
  return std::ranges::find(kPlainImages, image) != kPlainImages.end() &&
         column.root->doubts.empty() &&
         std::ranges::all_of(column.recipes,
                             [](const Recipe* recipe) { return recipe->doubts.empty(); });
}

}  // namespace mynah::doctor
