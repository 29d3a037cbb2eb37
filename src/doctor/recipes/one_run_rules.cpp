// Which words of a column one run of an installer must meet, and whether it refuses what it cannot.
#include <algorithm>
#include <string>
#include <string_view>

#include "doctor/recipes/image_system.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"

namespace mynah::doctor {

namespace {

// Whether what bounds pip in an image leaves it at a release from 20.3 on: that one brought the
// resolver that refuses (pip's news of 20.3; 20.2 has it only as an option).
bool may_hold_pip_back(const RecipeColumn& column) {
  const auto holds_back = [](const Asked& asked) {
    const auto set = SpecifierSet::parse(asked.requirement->specifier);
    if (asked.requirement->name != "pip" || !set || set->clauses.empty()) {
      return false;
    }
    const Version first = *Version::parse("20.3");
    const auto pinned = set->pinned();
    return pinned ? *pinned < first
                  : !set->contains(*Version::parse("20.3.4")) &&
                        set->contains(*Version::parse("20.2.4"));
  };
  const auto found = column.packages.find("pip");
  return std::ranges::any_of(column.passing, holds_back) ||
         (found != column.packages.end() && std::ranges::any_of(found->second, holds_back));
}

// Whether an image begins with a pip from 20.3 on. Images of Python 3.10 and later always had one,
// those of two numbers ("3.9") are built anew with newer ones; Debian has it since 11, Ubuntu since
// 22.04 (20.04 has 20.0.2); PyTorch's have it since 2.0.
bool has_new_pip(const BaseImage& image, const Knowledge& knowledge) {
  const std::string name = last_name(image.image);
  if (name == "python") {
    const auto version =
        Version::parse(image.tag.substr(0, image.tag.find_first_not_of("0123456789.")));
    return version && *version >= *Version::parse(version->release.size() == 2 ? "3.7" : "3.10");
  }
  if (image.image == "pytorch/pytorch") {
    const auto torch = Version::parse(image_facts(image.image, image.tag).torch);
    return torch && *torch >= *Version::parse("2.0");
  }
  const SystemOfImage of_image = system_of_image(image.image + ":" + image.tag, knowledge);
  if ((name != "debian" && name != "ubuntu" && image.image != "nvidia/cuda") || !of_image.said ||
      !of_image.system->verified) {
    return false;
  }
  const auto version = Version::parse(of_image.system->version);
  return version && *version >= *Version::parse(of_image.system->name == "debian" ? "11" : "22.04");
}

}  // namespace

// What belongs to one run of an installer: a file that no command names, with all that it includes.
// Files that a Dockerfile installs are several runs.
bool is_one_run(const RecipeColumn& column) {
  return column.service == nullptr && column.root->kind != "dockerfile" &&
         column.root->kind != "script";
}

bool refused_together(const RecipeColumn& column, const Asked& a, const Asked& b,
                      const Knowledge& knowledge) {
  if (is_one_run(column)) {
    return true;
  }
  if (a.how == nullptr || a.how != b.how || a.how->legacy) {
    return false;
  }
  const Recipe* const image = column.dockerfile();
  return a.how->uv || (image != nullptr && !may_hold_pip_back(column) && !image->images.empty() &&
                       std::ranges::all_of(image->images, [&](const BaseImage& base) {
                         return has_new_pip(base, knowledge);
                       }));
}

}  // namespace mynah::doctor
