#include "doctor/recipes/recipe_columns.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/column_locks.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/image_system.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_closure.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/verdicts/arm_machines.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

std::string exact_python(const std::string& specifier) {
  const auto set = SpecifierSet::parse(specifier);
  if (!set || set->clauses.size() != 1 || set->clauses[0].relation != Specifier::Relation::Equal ||
      set->clauses[0].version.release.size() < 2) {
    return {};
  }
  const Version& version = set->clauses[0].version;
  return fmt::format("{}.{}", version.release_at(0), version.release_at(1));
}

void find_image(RecipeColumn& column) {
  if (column.service != nullptr && !column.service->image.empty() &&
      column.service->build.empty()) {
    column.image = column.service->image;
    column.image_where = place_text(column.root->path, column.service->line);
  }
  for (const Recipe* recipe : column.recipes) {
    const BaseImage* image = recipe->kind == "dockerfile" ? final_image(*recipe) : nullptr;
    if (image != nullptr && column.image.empty()) {
      column.image = image->tag.empty() ? image->image : image->image + ":" + image->tag;
      column.image_where = place_text(recipe->path, image->line);
    }
  }
  const size_t colon = column.image.rfind(':');
  column.image_says = image_facts(column.image.substr(0, colon),
                                  colon == std::string::npos ? "" : column.image.substr(colon + 1));
}

// "requirements-mps.txt", "Dockerfile.cpu" is for another machine than one with a card of NVIDIA's,
// and says so; of backends side by side one is installed.
void find_other_machine(RecipeColumn& column) {
  static constexpr std::array<std::string_view, 19> kWords = {
      "mps",     "metal", "mac", "macos", "darwin", "osx",      "l4t12", "l4t13",  "l4t", "jetson",
      "hipblas", "rocm",  "amd", "intel", "xpu",    "openvino", "sycl",  "vulkan", "cpu"};
  if (column.service != nullptr || column.processor == "aarch64" ||
      (column.root->kind != "requirements" && column.root->kind != "dockerfile")) {
    return;
  }
  const std::string name = small_letters(fs::path(column.root->path).filename().string());
  for (const std::string_view word : name_parts(name, "-_.")) {
    if (std::ranges::find(kWords, word) != kWords.end()) {
      column.other_machine = word;
    }
  }
}

// The processor that a column's programs run on: as the service or the image says, or else as the
// machine's own is.
void find_processor(RecipeColumn& column, const Machine& machine) {
  std::string platform = column.service != nullptr ? column.service->platform : std::string();
  for (const Recipe* recipe : column.recipes) {
    const BaseImage* image = recipe->kind == "dockerfile" ? final_image(*recipe) : nullptr;
    platform = platform.empty() && image != nullptr ? image->platform : platform;
  }
  const bool of_arm = column.image.starts_with("arm64v8/") ||
                      column.image.starts_with("nvcr.io/nvidia/l4t-") ||
                      platform.starts_with("linux/arm64") || platform.starts_with("linux/aarch64");
  const bool machine_of_arm =
      std::ranges::find(machine.processor_flags, kArmFlag) != machine.processor_flags.end();
  if (of_arm || (!platform.starts_with("linux/") && machine_of_arm)) {
    column.processor = "aarch64";
  }
}

// Overrides that hold stand in place of all that asks for their package; a lock was made with them.
void apply_overrides(std::vector<Asked>& all) {
  const auto is_override = [](const Asked& asked) { return asked.requirement->overrides; };
  const bool asked_for = std::ranges::any_of(all, [](const Asked& asked) { return !asked.bound; });
  if (std::ranges::none_of(all, is_override)) {
    return;
  }
  std::erase_if(
      all, [&](const Asked& asked) { return !is_override(asked) && !asked.requirement->locked; });
  for (Asked& asked : all) {
    asked.bound = !asked_for;
  }
}

MarkerEnvironment marker_environment(RecipeColumn& column, const Machine& machine,
                                     const Knowledge& knowledge) {
  MarkerEnvironment environment;
  environment.system = system_of(column, machine);
  column.python = python_of_commands(column);
  for (const Recipe* recipe : column.recipes) {
    if (column.python.empty()) {
      column.python = exact_python(recipe->python);
    }
  }
  if (column.python.empty()) {
    column.python = python_of_system(column, knowledge);
  }
  environment.python = column.python;
  environment.machine = column.processor;
  std::set<std::string> groups;
  for (const Recipe* recipe : column.recipes) {
    groups.insert(recipe->groups.begin(), recipe->groups.end());
  }
  // People ask for those of projects and locks; for those of an image its commands do.
  environment.more_extras =
      (column.dockerfile() == nullptr && column.group.empty()) ||
      std::ranges::any_of(groups, [](const std::string& name) { return name.contains('$'); });
  if (!column.group.empty()) {
    groups.insert(column.group);
  }
  environment.extras.assign(groups.begin(), groups.end());
  return environment;
}

void find_packages(RecipeColumn& column, const Machine& machine, const RecipeFiles& recipes,
                   const Knowledge& knowledge) {
  const MarkerEnvironment environment = marker_environment(column, machine, knowledge);
  const auto installs = [&](const std::string& group) {
    const std::vector<std::string>& groups = environment.extras;
    return group.empty() || std::ranges::find(groups, group) != groups.end() ||
           std::ranges::find(groups, "*") != groups.end();
  };
  const Recipe* const image = column.dockerfile();
  std::map<const Recipe*, const InstallStep*> steps;
  if (image != nullptr) {
    steps = recipes.steps(*image, column.environment);
  }
  // A project is installed with the lock beside it.
  const auto how_of = [&](const Recipe& recipe, const Requirement& requirement) {
    if (&recipe == image) {
      return step_of(recipe, requirement.step);
    }
    if (const auto found = steps.find(&recipe); found != steps.end()) {
      return found->second;
    }
    for (const auto& [other, step] : steps) {
      if (fs::path(other->path).parent_path() == fs::path(recipe.path).parent_path() &&
          (other->kind == "lock" || other->kind == "pyproject")) {
        return step;
      }
    }
    return static_cast<const InstallStep*>(nullptr);
  };
  const auto add = [&](const Recipe& recipe, bool bound) {
    for (const Requirement& requirement : recipe.requirements) {
      if (!installs(requirement.group)) {
        continue;
      }
      Asked asked{.requirement = &requirement,
                  .recipe = &recipe,
                  .bound = bound || requirement.bound || requirement.overrides};
      if (!requirement.marker.empty()) {
        const auto marker = Marker::parse(requirement.marker);
        asked.holds = marker ? marker->holds(environment) : Truth::NotKnown;
      }
      asked.how = how_of(recipe, requirement);
      if (recipe.kind == "pyproject" && !asked.brings_needs()) {
        continue;  // the project is installed without what it asks for
      }
      if (asked.holds == Truth::Yes && asked.how != nullptr && asked.how->doubtful) {
        asked.holds = Truth::NotKnown;
      }
      if (asked.holds == Truth::No) {
        continue;
      }
      if (asked.how != nullptr && asked.how->aside) {
        column.passing.push_back(asked);
      } else if (asked.how == nullptr || asked.how->environment == column.environment) {
        column.packages[requirement.name].push_back(asked);
      }
    }
  };
  for (const Recipe* recipe : column.recipes) {
    add(*recipe, false);
  }
  for (const Recipe* recipe : column.constraints) {
    add(*recipe, true);
  }
  for (auto& [name, all] : column.packages) {
    apply_overrides(all);
  }
  settle_locks(column);
  column.image_torch = column.image_says.torch;
  if (image != nullptr) {
    settle_steps(*image, column);
  }
}

// Environments that an image's steps install into; one at least.
std::vector<std::string> environments_of(const Recipe* first) {
  constexpr size_t kMostEnvironments = 8;
  std::vector<std::string> all;
  if (first != nullptr) {
    for (const InstallStep& step : first->steps) {
      if (!step.aside && std::ranges::find(all, step.environment) == all.end() &&
          all.size() < kMostEnvironments) {
        all.push_back(step.environment);
      }
    }
  }
  return all.empty() ? std::vector<std::string>{""} : all;
}

// Whether a recipe stands for an environment, not only for services or a Python.
bool makes_environment(const Recipe& recipe) {
  return recipe.kind != "compose" && recipe.kind != "python version" && !is_project_reading(recipe);
}

// The file that says which Python is taken for all that is beside it: behind what says so itself.
void add_python_versions(const Facts& facts, RecipeColumn& column) {
  const auto beside = [&](const Recipe& file) {
    const fs::path folder = fs::path(file.path).parent_path();
    return std::ranges::any_of(column.recipes, [&](const Recipe* recipe) {
      return recipe->kind != "dockerfile" && recipe->kind != "conda" &&
             fs::path(recipe->path).parent_path() == folder;
    });
  };
  for (const Recipe& file : facts.recipes) {
    if (file.kind == "python version" && beside(file)) {
      column.recipes.push_back(&file);
    }
  }
}

// Extras and groups of a project that bring a framework, where nobody says which are installed.
std::vector<std::string> groups_of(const RecipeColumn& column) {
  constexpr size_t kMostGroups = 8;
  constexpr std::array<std::string_view, 9> kFrameworks = {
      "torch",       "torchaudio",      "torchvision", "ctranslate2",     "faster-whisper",
      "onnxruntime", "onnxruntime-gpu", "whisperx",    "llama-cpp-python"};
  std::vector<std::string> groups;
  for (const Recipe* recipe : column.recipes) {
    if (!recipe->groups.empty()) {
      return {};
    }
    for (const Requirement& requirement : recipe->requirements) {
      if (!requirement.group.empty() && groups.size() < kMostGroups &&
          std::ranges::find(kFrameworks, requirement.name) != kFrameworks.end() &&
          std::ranges::find(groups, requirement.group) == groups.end()) {
        groups.push_back(requirement.group);
      }
    }
  }
  return groups;
}

}  // namespace

const Recipe* RecipeColumn::dockerfile() const {
  const auto found = std::ranges::find(recipes, "dockerfile", &Recipe::kind);
  return found == recipes.end() ? nullptr : *found;
}

bool RecipeColumn::asks_for(std::string_view package) const {
  const auto found = packages.find(std::string(package));
  return found != packages.end() &&
         std::ranges::any_of(found->second, [](const Asked& asked) { return !asked.bound; });
}

bool RecipeColumn::keeps_unnamed_torch() const {
  const auto found = packages.find("torch");
  return image_says.unnamed_torch && environment.empty() &&
         (found == packages.end() || std::ranges::none_of(found->second, [](const Asked& asked) {
            const auto set = SpecifierSet::parse(asked.requirement->specifier);
            return (asked.how != nullptr && asked.how->renews) || !asked.requirement->url.empty() ||
                   (set && set->pinned());
          }));
}

Bounds RecipeColumn::bounds_of(std::string_view package) const {
  Bounds bounds;
  const auto found = packages.find(std::string(package));
  if (found == packages.end()) {
    return bounds;
  }
  for (const Asked& asked : found->second) {
    const auto set = SpecifierSet::parse(asked.requirement->specifier);
    if (set && (asked.bound || asked.requirement->overrides)) {
      bounds.range.clauses.insert(bounds.range.clauses.end(), set->clauses.begin(),
                                  set->clauses.end());
      bounds.overrides |= asked.requirement->overrides;
    }
  }
  return bounds;
}

std::string place_text(const std::string& path, uint64_t line) {
  return line == 0 ? path : fmt::format("{}:{}", path, line);
}

std::string variant_of_index(std::string_view url) {
  while (url.ends_with('/')) {
    url.remove_suffix(1);
  }
  const std::string_view last = url.substr(url.find_last_of('/') + 1);
  const bool cuda = last.starts_with("cu") && last.size() >= 4 && last.size() <= 5 &&
                    std::ranges::all_of(last.substr(2), is_digit);
  return cuda || last == "cpu" || last.starts_with("rocm") || last == "xpu" ? std::string(last)
                                                                            : std::string();
}

std::string cuda_of_variant(std::string_view variant) {
  if (!variant.starts_with("cu") || variant.size() < 4 ||
      !std::ranges::all_of(variant.substr(2), is_digit)) {
    return {};
  }
  return fmt::format("{}.{}", variant.substr(2, variant.size() - 3), variant.back());
}

System system_of(const RecipeColumn& column, const Machine& machine) {
  return column.image.empty() ? machine.system : System::Linux;
}

std::vector<RecipeColumn> recipe_columns(const Facts& facts, const Knowledge& knowledge) {
  const RecipeFiles recipes(facts);
  std::set<const Recipe*> taken;  // by others
  for (const Recipe& recipe : facts.recipes) {
    for (const std::vector<std::string>* list : {&recipe.includes, &recipe.constraints}) {
      for (const std::string& path : *list) {
        const Recipe* include = recipes.at(path);
        if (include != nullptr && include != &recipe) {
          taken.insert(include);
        }
      }
    }
  }
  // A project and the lock beside it are one.
  std::map<std::string, const Recipe*> locks;
  std::map<std::string, const Recipe*> projects;
  for (const Recipe& recipe : facts.recipes) {
    if (recipe.kind == "lock" || recipe.kind == "pyproject") {
      (recipe.kind == "lock" ? locks : projects)
          .emplace(fs::path(recipe.path).parent_path().string(), &recipe);
    }
  }
  std::vector<RecipeColumn> columns;
  std::set<const Recipe*> shown;
  const auto add_one = [&](const Recipe& root, const Service* service, const Recipe* first,
                           const std::string& environment, bool alone) {
    RecipeColumn column;
    column.root = &root;
    column.service = service;
    column.name = service == nullptr ? root.path : fmt::format("{} ({})", service->name, root.path);
    column.environment = environment;
    if (!alone) {
      column.name += environment.empty() ? " [the image's own]" : fmt::format(" [{}]", environment);
    }
    if (first != nullptr) {
      column.recipes = recipes.closure(*first, environment, column.constraints);
    }
    const std::vector<const Recipe*> named = column.recipes;
    for (const Recipe* recipe : named) {
      const auto& others = recipe->kind == "lock" ? projects : locks;
      const auto other = others.find(fs::path(recipe->path).parent_path().string());
      if ((recipe->kind != "lock" && recipe->kind != "pyproject") || other == others.end()) {
        continue;
      }
      shown.insert(other->second);
      // pip, and "uv pip", read no lock: an image's commands name those that they do.
      const bool unread = recipe->kind == "pyproject" && first->kind == "dockerfile";
      if (!unread && std::ranges::find(column.recipes, other->second) == column.recipes.end()) {
        column.recipes.push_back(other->second);
      }
    }
    add_python_versions(facts, column);
    for (const Recipe* recipe : column.recipes) {
      shown.insert({recipe, is_project_reading(*recipe) ? recipes.at(recipe->path) : recipe});
    }
    shown.insert(column.constraints.begin(), column.constraints.end());
    find_image(column);
    find_processor(column, facts.machine);
    find_other_machine(column);
    const std::vector<std::string> groups =
        service == nullptr ? groups_of(column) : std::vector<std::string>();
    RecipeColumn plain = column;
    find_packages(column, facts.machine, recipes, knowledge);
    columns.push_back(std::move(column));
    for (const std::string& group : groups) {
      RecipeColumn apart = plain;
      apart.group = group;
      apart.base = plain.name;
      apart.name = fmt::format("{} [{}]", plain.name, group);
      find_packages(apart, facts.machine, recipes, knowledge);
      columns.push_back(std::move(apart));
    }
  };
  // `first` is what the environments are made from; none: an image that is taken as it comes.
  const auto add = [&](const Recipe& root, const Service* service, const Recipe* first) {
    const std::vector<std::string> environments = environments_of(first);
    for (const std::string& environment : environments) {
      add_one(root, service, first, environment, environments.size() == 1);
    }
  };
  for (const Recipe& recipe : facts.recipes) {
    for (const Service& service : recipe.services) {
      add(recipe, &service, recipes.built(service));
      // What else the file makes is not what runs.
      const auto& others = recipes.all_at(service.build);
      shown.insert(others.begin(), others.end());
    }
  }
  // What an image changes before it installs it, or has in a stage that is only built, is in none.
  for (const Recipe& recipe : facts.recipes) {
    for (const IncludeLine& include : recipe.include_lines) {
      const InstallStep* const step = step_of(recipe, include.step);
      const Recipe* const file = recipes.at(include.path);
      if (file != nullptr && (include.edited || (step != nullptr && step->aside))) {
        std::vector<const Recipe*> bounds;
        const auto all = recipes.closure(*file, "", bounds);
        shown.insert(all.begin(), all.end());
      }
    }
  }
  // Projects before locks, which may be theirs; then what only a loop of includes leads to.
  for (const bool lock : {false, true}) {
    for (const Recipe& recipe : facts.recipes) {
      if (!taken.contains(&recipe) && !shown.contains(&recipe) && makes_environment(recipe) &&
          (recipe.kind == "lock") == lock) {
        add(recipe, nullptr, &recipe);
      }
    }
  }
  for (const Recipe& recipe : facts.recipes) {
    if (!shown.contains(&recipe) && makes_environment(recipe)) {
      add(recipe, nullptr, &recipe);
    }
  }
  return columns;
}

}  // namespace mynah::doctor
