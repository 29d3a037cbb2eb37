#include "doctor/recipes/docker_stages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/characters.h"
#include "doctor/recipes/install_environment.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_below(std::string_view path, std::string_view folder) {
  return folder == "/" ||
         (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'));
}

// Whether a path that is copied from a stage has an environment of it, or its packages.
bool holds_environment(std::string_view source, std::string_view environment) {
  const bool packages = contains(source, "site-packages") || contains(source, "dist-packages");
  if (environment.empty()) {
    static constexpr std::array<std::string_view, 6> kOwn = {
        "/", "/usr", "/usr/local", "/usr/local/lib", "/opt", "/root"};
    return std::ranges::find(kOwn, source) != kOwn.end() || contains(source, "/.local") ||
           contains(source, "/opt/conda") || contains(source, "/usr/local/lib/python") ||
           (packages && is_below(source, "/usr"));
  }
  constexpr std::string_view kConda = "conda ";
  if (environment.starts_with(kConda)) {
    const std::string_view name = environment.substr(kConda.size());
    return source.ends_with(name) || source == "/opt" || source.ends_with("conda") ||
           source.ends_with("envs");
  }
  return is_below(environment, source) || (packages && is_below(source, environment));
}

// A folder of some tool's environment, whose steps do not say where it is.
bool looks_like_environment(std::string_view source) {
  return contains(source, "venv") || contains(source, "virtualenv") ||
         contains(source, "site-packages") || source.ends_with("/env");
}

// Whether a path that is copied from a stage may have an interpreter of Python in it.
bool may_hold_python(const FromStage& copy) {
  static constexpr std::array<std::string_view, 10> kFolders = {
      "/",    "/usr",        "/usr/local", "/usr/local/bin", "/usr/local/lib",
      "/opt", "/usr/local/", "/root",      "/usr/bin",       "/usr/lib"};
  return std::ranges::find(kFolders, copy.source) != kFolders.end() ||
         contains(copy.source, "python") || contains(copy.source, "conda") ||
         contains(copy.source, "/uv");
}

std::string moved(const std::string& environment, const FromStage& copy) {
  if (environment.empty() || environment.starts_with("conda ") ||
      !is_below(environment, copy.source)) {
    return environment;
  }
  const std::string rest = environment.substr(copy.source == "/" ? 0 : copy.source.size());
  return environment_of_program("", copy.target + rest);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  const size_t room = kMostOfARecipe - std::min(to.size(), kMostOfARecipe);
  to.insert(to.end(), more.begin(),
            more.begin() + static_cast<std::ptrdiff_t>(std::min(room, more.size())));
}

class Composer {
 public:
  explicit Composer(std::span<const DockerStage> stages) : stages_(stages) {}

  void compose(size_t target, Recipe& recipe) {
    add_stage(target, recipe);
    for (const size_t stage : needed_) {
      if (recipe.images.size() < kMostOfARecipe) {
        recipe.images.push_back(stages_[stage].image);
      }
    }
    if (spent_ > kMostSpent) {
      add_doubt(recipe, 0, "stages copy more from each other than is followed");
    }
  }

 private:
  static constexpr size_t kMostSpent = size_t{4} * kMostOfARecipe;  // steps and what they ask for

  // How a step comes into an image.
  struct Way {
    bool aside = false;
    const FromStage* copy = nullptr;                  // none: it runs there
    const std::vector<IndexLine>* indexes = nullptr;  // that hold where it ran
  };

  void add_stage(size_t index, Recipe& recipe) {
    const DockerStage& stage = stages_[index];
    needed_.insert(index);
    if (stage.parent) {
      add_stage(*stage.parent, recipe);
    }
    size_t next = 0;
    std::set<size_t> taken;
    for (const FromStage& copy : stage.taken) {
      for (; next < std::min(copy.step, stage.part.steps.size()); ++next) {
        add_step(stage.part, next, {}, recipe);
      }
      if (const auto from = stage_of(stages_, copy.stage, index);
          from && taken.insert(*from).second) {
        take(stage, *from, recipe);
      }
    }
    for (; next < stage.part.steps.size(); ++next) {
      add_step(stage.part, next, {}, recipe);
    }
    const Recipe& part = stage.part;
    append(recipe.indexes, part.indexes);
    append(recipe.groups, part.groups);
    append(recipe.system_packages, part.system_packages);
    append(recipe.builds, part.builds);
    append(recipe.device_builds, part.device_builds);
    append(recipe.doubts, part.doubts);
    for (const auto& [name, value] : part.variables) {
      recipe.variables.insert_or_assign(name, value);
    }
  }

  // All that one stage takes from another.
  void take(const DockerStage& taker, size_t from, Recipe& recipe) {
    if (++takes_ > kMostTakes) {
      spent_ = kMostSpent + 1;
      return;
    }
    Recipe other;
    other.path = recipe.path;
    add_stage(from, other);
    for (const std::string& doubt : other.doubts) {
      if (std::ranges::find(recipe.doubts, doubt) == recipe.doubts.end()) {
        recipe.doubts.push_back(doubt);
      }
    }
    std::vector<const FromStage*> copies;
    for (const FromStage& copy : taker.taken) {
      if (!copy.source.empty() && stage_of(stages_, copy.stage, stages_.size()) == from) {
        copies.push_back(&copy);
      }
    }
    const auto copy_of = [&](const std::string& environment) -> const FromStage* {
      const auto found = std::ranges::find_if(copies, [&](const FromStage* copy) {
        return holds_environment(copy->source, environment);
      });
      return found == copies.end() ? nullptr : *found;
    };
    const auto* const loose = [&]() -> const FromStage* {
      const auto found = std::ranges::find_if(copies, [&](const FromStage* copy) {
        return looks_like_environment(copy->source) &&
               std::ranges::none_of(other.steps, [&](const InstallStep& step) {
                 return !step.environment.empty() &&
                        holds_environment(copy->source, step.environment);
               });
      });
      return found == copies.end() ? nullptr : *found;
    }();
    append(recipe.device_builds, other.device_builds);  // they are run all the same
    // An interpreter that comes along is the one that an environment runs.
    if (std::ranges::any_of(copies, [](const FromStage* copy) { return may_hold_python(*copy); })) {
      for (InstallStep& step : other.steps) {
        step.image = 0;
      }
    }
    bool brought = false;
    for (size_t i = 0; i < other.steps.size(); ++i) {
      const InstallStep& step = other.steps[i];
      const FromStage* copy = copy_of(step.environment);
      if (copy == nullptr && step.environment.empty()) {
        copy = loose;
      }
      const bool aside = step.aside || copy == nullptr;
      brought |= !aside;
      add_step(other, i, {.aside = aside, .copy = copy, .indexes = &other.indexes}, recipe);
    }
    if (brought) {
      append(recipe.groups, other.groups);
    }
  }

  void add_step(const Recipe& part, size_t index, const Way& way, Recipe& recipe) {
    if (recipe.steps.size() >= kMostOfARecipe || ++spent_ > kMostSpent) {
      return;
    }
    InstallStep step = part.steps[index];
    step.aside |= way.aside;
    if (way.copy != nullptr) {
      step.environment = moved(step.environment, *way.copy);
    }
    recipe.steps.push_back(std::move(step));
    const uint64_t number = recipe.steps.size();
    for (const Requirement& requirement : asks_of(part, index)) {
      if (++spent_ > kMostSpent) {
        return;
      }
      Requirement added = requirement;
      added.step = number;
      if (way.indexes != nullptr) {
        fold_indexes(*way.indexes, added);
      }
      add_requirement(recipe, std::move(added));
    }
    for (const IncludeLine& include : part.include_lines) {
      if (include.step == index + 1) {
        add_file(part, include, number, way, recipe);
      }
    }
  }

  // Requirements of a step stand behind each other.
  static std::span<const Requirement> asks_of(const Recipe& part, size_t index) {
    const auto range =
        std::ranges::equal_range(part.requirements, index + 1, {}, &Requirement::step);
    return {range.begin(), range.end()};
  }

  // Variables of another stage do not hold in this one, but held for what was installed there.
  static void fold_indexes(const std::vector<IndexLine>& indexes, Requirement& requirement) {
    for (const IndexLine& index : indexes) {
      if (!index.one_command &&
          std::ranges::find(requirement.indexes, index.url) == requirement.indexes.end()) {
        requirement.indexes.push_back(index.url);
        requirement.replaces_index |= !index.extra;
      }
    }
  }

  static void add_file(const Recipe& part, const IncludeLine& include, uint64_t step,
                       const Way& way, Recipe& recipe) {
    if (recipe.include_lines.size() >= kMostOfARecipe) {
      return;
    }
    const bool bounds = std::ranges::find(part.constraints, include.path) != part.constraints.end();
    (bounds ? recipe.constraints : recipe.includes).push_back(include.path);
    constexpr size_t kMostIndexes = 500;
    recipe.include_lines.push_back(include);
    recipe.include_lines.back().step = step;
    for (size_t i = 0; way.indexes != nullptr && i < way.indexes->size(); ++i) {
      IndexLine index = (*way.indexes)[i];
      if (!index.one_command) {
        index.one_command = true;
        index.line = include.line;
      }
      if (recipe.indexes.size() < kMostIndexes &&
          std::ranges::find(recipe.indexes, index) == recipe.indexes.end()) {
        recipe.indexes.push_back(std::move(index));
      }
    }
  }

  static constexpr size_t kMostTakes = 200;

  std::span<const DockerStage> stages_;
  std::set<size_t> needed_;
  size_t spent_ = 0;
  size_t takes_ = 0;
};

}  // namespace

std::optional<size_t> stage_of(std::span<const DockerStage> stages, std::string name, size_t end) {
  name = small_letters(name);
  for (size_t i = std::min(end, stages.size()); i-- > 0;) {
    if (name == std::to_string(i) ||
        (!name.empty() && small_letters(stages[i].image.stage) == name)) {
      return i;
    }
  }
  return std::nullopt;
}

void compose_image(std::span<const DockerStage> stages, size_t target, Recipe& recipe) {
  Composer(stages).compose(target, recipe);
}

void take_lists(Recipe& one, Recipe& part) {
  const auto move_all = [](auto& from, auto& to) {
    std::ranges::move(from, std::back_inserter(to));
  };
  move_all(one.includes, part.includes);
  move_all(one.constraints, part.constraints);
  move_all(one.indexes, part.indexes);
  move_all(one.system_packages, part.system_packages);
  move_all(one.builds, part.builds);
  move_all(one.device_builds, part.device_builds);
  for (const std::string& group : one.groups) {
    add_groups(part, group);
  }
}

void add_step(Recipe& part, Recipe one, InstallStep step, const std::vector<std::string>& edited) {
  constexpr size_t kMostDoubts = 100;
  const bool installs = !one.requirements.empty() || !one.includes.empty() ||
                        !one.constraints.empty() || !step.removes.empty() || step.unknown;
  if (installs && part.steps.size() < kMostOfARecipe) {
    part.steps.push_back(std::move(step));
  }
  const uint64_t number = part.steps.size();
  for (Requirement& requirement : one.requirements) {
    requirement.step = number;
    add_requirement(part, std::move(requirement));
  }
  for (IncludeLine& include : one.include_lines) {
    include.step = number;
    include.edited = std::ranges::find(edited, include.path) != edited.end();
    if (std::ranges::find(edited, include.made_of) != edited.end()) {
      include.made_of.clear();
    }
    part.include_lines.push_back(std::move(include));
  }
  take_lists(one, part);
  for (const std::string& doubt : one.doubts) {
    if (part.doubts.size() < kMostDoubts) {
      part.doubts.push_back(doubt);
    }
  }
}

}  // namespace mynah::doctor
