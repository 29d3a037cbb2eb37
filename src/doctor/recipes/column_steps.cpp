#include "doctor/recipes/column_steps.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/versions.h"

namespace mynah::doctor {

namespace {

using AllAsked = std::vector<Asked>;

std::optional<Version> pin_of(const Asked& asked) {
  const auto set = SpecifierSet::parse(asked.requirement->specifier);
  return set && !asked.bound ? set->pinned() : std::nullopt;
}

// The one that decides: of a lock, or else the first pin.
const Asked* decider(const AllAsked& all) {
  const Asked* found = nullptr;
  for (const Asked& asked : all) {
    if (pin_of(asked) &&
        (found == nullptr || (asked.requirement->locked && !found->requirement->locked))) {
      found = &asked;
    }
  }
  return found;
}

bool meets(const Version& version, const AllAsked& all) {
  return std::ranges::all_of(all, [&](const Asked& asked) {
    const auto set = SpecifierSet::parse(asked.requirement->specifier);
    const bool plain = asked.requirement->url.empty() || asked.requirement->url == "conda";
    return set && set->contains(version) && plain;
  });
}

void doubt(AllAsked& all) {
  for (Asked& asked : all) {
    asked.holds = Truth::NotKnown;
  }
}

// One package of an image, step by step.
class PackageSteps {
 public:
  PackageSteps(RecipeColumn& column, std::string_view image_version)
      : column_(column), image_(version_of(image_version)) {}

  void remove(const InstallStep& step) {
    if (step.doubtful) {
      doubt(present_);
      return;
    }
    removed_ = decider(present_) != nullptr ? std::optional(*decider(present_)) : std::nullopt;
    drop();
  }

  void install(AllAsked group) {
    const bool asks = std::ranges::any_of(group, [](const Asked& one) { return !one.bound; });
    const bool renews =
        std::ranges::any_of(group, [](const Asked& one) { return one.how && one.how->renews; });
    const Asked* const before = decider(present_);
    const std::optional<Version> there = before != nullptr ? pin_of(*before) : image_;
    const Asked* const pin = decider(group);
    const bool nothing = present_.empty() && !image_;
    const bool stays = there ? meets(*there, group) : pin == nullptr;
    if (!asks || nothing || (stays && !renews)) {
      note_removed(pin);
      append(std::move(group));
      return;
    }
    const bool sure =
        std::ranges::any_of(group, [](const Asked& one) { return one.holds == Truth::Yes; });
    if (!sure) {
      doubt(present_);
      image_.reset();
      append(std::move(group));
      return;
    }
    const auto asking = std::ranges::find(group, false, &Asked::bound);
    if (before != nullptr && pin != nullptr && pin_of(*before) != pin_of(*pin)) {
      column_.replaced.push_back({.first = *before, .last = *pin, .meant = renews});
    } else if (before != nullptr && pin == nullptr) {
      // The newest of a range, whatever the day brings.
      column_.replaced.push_back({.first = *before, .last = *asking, .meant = false});
    }
    drop();
    present_ = std::move(group);
  }

  [[nodiscard]] AllAsked take() { return std::move(present_); }

  [[nodiscard]] bool keeps_image() const { return image_.has_value(); }

 private:
  static std::optional<Version> version_of(std::string_view text) {
    const auto version = Version::parse(text);
    return version ? std::optional(*version) : std::nullopt;
  }

  void note_removed(const Asked* pin) {
    if (removed_ && pin != nullptr) {
      column_.replaced.push_back({.first = *removed_, .last = *pin, .meant = true});
    }
    removed_.reset();
  }

  void append(AllAsked group) { std::ranges::move(group, std::back_inserter(present_)); }

  void drop() {
    std::ranges::copy_if(present_, std::back_inserter(column_.passing),
                         [](const Asked& asked) { return !asked.bound; });
    present_.clear();
    image_.reset();
  }

  RecipeColumn& column_;
  std::optional<Version> image_;  // that the image brings, as long as it is there
  AllAsked present_;
  std::optional<Asked> removed_;
};

}  // namespace

void settle_steps(const Recipe& image, RecipeColumn& column) {
  std::map<std::string, std::vector<const InstallStep*>> removals;
  for (const InstallStep& step : image.steps) {
    for (const std::string& name : step.removes) {
      if (!step.aside && step.environment == column.environment) {
        removals[name].push_back(&step);
      }
    }
  }
  const bool brings_torch = column.environment.empty() && !column.image_says.torch.empty();
  column.image_torch = brings_torch ? column.image_says.torch : "";
  if (brings_torch && removals.contains("torch")) {
    column.packages.try_emplace("torch");
  }
  const auto settle = [&](const std::string& name, AllAsked& all) {
    const bool torch = name == "torch" && brings_torch;
    PackageSteps steps(column, torch ? column.image_says.torch : "");
    std::map<const InstallStep*, AllAsked> groups;  // steps lie in one list, in their order
    for (Asked& asked : all) {
      groups[asked.how].push_back(asked);
    }
    for (const InstallStep* removal : removals[name]) {
      groups.try_emplace(removal);
    }
    for (auto& [step, group] : groups) {
      if (step != nullptr && std::ranges::find(step->removes, name) != step->removes.end()) {
        steps.remove(*step);
      }
      if (!group.empty()) {
        steps.install(std::move(group));
      }
    }
    all = steps.take();
    if (torch && !steps.keeps_image()) {
      column.image_torch.clear();
    }
  };
  for (auto& [name, all] : column.packages) {
    settle(name, all);
  }
  std::erase_if(column.packages, [](const auto& package) { return package.second.empty(); });
}

bool comes_first(const RecipeColumn& column, const Asked& asked) {
  constexpr std::array<std::string_view, 4> kBare = {"ubuntu", "debian", "python", "nvidia/cuda"};
  constexpr std::array<std::string_view, 5> kTools = {"pip", "setuptools", "wheel", "uv", "numpy"};
  const InstallStep* const step = asked.how;
  // Steps lie in one list, in their order.
  const auto before = [&](const InstallStep* other) { return std::less<>()(other, step); };
  const auto is_read = [&](const std::string& path) {
    return std::ranges::find(column.recipes, path, &Recipe::path) != column.recipes.end() ||
           std::ranges::find(column.constraints, path, &Recipe::path) != column.constraints.end();
  };
  // A file that is not there may name other indexes, too.
  const bool all_read = std::ranges::all_of(column.recipes, [&](const Recipe* recipe) {
    return std::ranges::all_of(recipe->include_lines, [&](const IncludeLine& include) {
      const bool later = include.step != 0 && include.step <= recipe->steps.size() &&
                         step != nullptr && std::less<>()(step, &recipe->steps[include.step - 1]);
      return later || is_read(include.path);
    });
  });
  if (!column.is_image() || !all_read) {
    return all_read;
  }
  std::string_view image = column.image;
  image = image.substr(0, image.rfind(':'));
  for (const std::string_view prefix : {"docker.io/", "library/", "nvcr.io/"}) {
    image.remove_prefix(image.starts_with(prefix) ? prefix.size() : 0);
  }
  if (step == nullptr || std::ranges::find(kBare, image) == kBare.end()) {
    return false;
  }
  const auto brings_none = [&](const Asked& other) {
    return other.bound || (other.how != nullptr && !before(other.how)) ||
           std::ranges::find(kTools, other.requirement->name) != kTools.end();
  };
  const bool by_packages = std::ranges::all_of(column.packages, [&](const auto& package) {
    return std::ranges::all_of(package.second, brings_none);
  });
  const bool by_steps = std::ranges::all_of(column.recipes, [&](const Recipe* recipe) {
    const bool of_system = std::ranges::any_of(
        recipe->system_packages,
        [](const std::string& package) { return package.find("torch") != std::string::npos; });
    return !of_system && std::ranges::none_of(recipe->steps, [&](const InstallStep& other) {
      return other.unknown && before(&other);
    });
  });
  return by_packages && by_steps && std::ranges::all_of(column.passing, brings_none);
}

}  // namespace mynah::doctor
