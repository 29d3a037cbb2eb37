#include "doctor/recipes/torch_neighbours.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/knowledge/companions.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

constexpr std::array<std::string_view, 2> kCompanions = {"torchaudio", "torchvision"};

// Packages that a column pins and that ask for one torch exactly, by their names.
using Neighbours = std::map<std::string_view, Resolved>;

Neighbours neighbours_of(const RecipeColumn& column, const Knowledge& knowledge) {
  Neighbours found;
  std::set<std::string_view> seen = {"torch", kCompanions[0], kCompanions[1]};
  for (const PackageNeeds& needs : knowledge.packages) {
    if (!seen.insert(needs.package).second) {
      continue;
    }
    Resolved pinned = resolve(column, needs.package);
    const auto asked = pinned.version ? asked_of(needs.package, *pinned.version, "torch", knowledge)
                                      : std::nullopt;
    if (asked && asked->needs->verified && asked->range.pinned() &&
        pinned.by->requirement->url.empty() && pinned.by->brings_needs()) {
      found.emplace(needs.package, std::move(pinned));
    }
  }
  return found;
}

// What releases ask for, by their packages.
using Chosen = std::map<std::string_view, const PackageNeeds*>;

// Whether releases that are chosen already take this one of a package.
bool is_taken(const Chosen& chosen, std::string_view package, const Version& release) {
  return std::ranges::all_of(chosen, [&](const auto& each) {
    return std::ranges::all_of(each.second->requires_, [&](const std::string& text) {
      if (!text.starts_with(package)) {
        return true;  // most are of others
      }
      const auto need = parse_requirement(text);
      const auto range = need && need->name == package ? SpecifierSet::parse(need->specifier)
                                                       : SpecifierSet::parse("");
      return !range || range->contains(release);
    });
  });
}

// The release of a package for a torch that is nearest to the one that is pinned, newer ones first;
// of those that repeat one another (0.0.32.post1, .post2) the last. Null: none is known.
const PackageNeeds* release_for(const RecipeColumn& column, std::string_view package,
                                const Version& pinned, const Version& torch, const Chosen& chosen,
                                const Knowledge& knowledge) {
  const PackageNeeds* best = nullptr;
  const auto is_better = [&](const Version& release, const Version& other) {
    const bool newer = release > pinned;
    if (newer != (other > pinned)) {
      return newer;
    }
    if (release.base() == other.base()) {
      return release > other;
    }
    return newer ? release < other : release > other;
  };
  for (const PackageNeeds& needs : knowledge.packages) {
    const Version& release = needs.versions.from;
    if (needs.package != package || !needs.verified) {
      continue;
    }
    const auto asked = asked_of(package, release, "torch", knowledge);
    if (asked && asked->needs == &needs && asked->range.contains(torch.public_part()) &&
        takes_python(column, std::string(package), release, knowledge) &&
        is_taken(chosen, package, release) &&
        (best == nullptr || is_better(release, best->versions.from))) {
      best = &needs;
    }
  }
  return best;
}

// The release of each neighbour for a torch, those that stay left out. None: one has none.
std::optional<Chosen> moved_neighbours(const RecipeColumn& column, const Neighbours& neighbours,
                                       const Version& torch, const Knowledge& knowledge,
                                       bool all_of_them) {
  Chosen stay;
  Chosen moved;
  const auto choose = [&](std::string_view package, const Resolved& pinned) {
    const auto asked = asked_of(package, *pinned.version, "torch", knowledge);
    if (asked->range.contains(torch.public_part())) {
      stay.emplace(package, asked->needs);
      return true;
    }
    Chosen chosen = stay;
    chosen.insert(moved.begin(), moved.end());
    const PackageNeeds* const release =
        release_for(column, package, *pinned.version, torch, chosen, knowledge);
    if (release != nullptr) {
      moved.emplace(package, release);
    }
    return release != nullptr;
  };
  // What others ask for comes behind them: xformers behind vllm.
  for (const bool asked_for : {false, true}) {
    for (const auto& [package, pinned] : neighbours) {
      const bool is_asked_for = std::ranges::any_of(neighbours, [&](const auto& other) {
        return asked_of(other.first, *other.second.version, package, knowledge).has_value();
      });
      if (is_asked_for == asked_for && !choose(package, pinned) && all_of_them) {
        return std::nullopt;
      }
    }
  }
  return moved;
}

bool has_companions(const RecipeColumn& column, const Version& torch, const Knowledge& knowledge) {
  return std::ranges::all_of(kCompanions, [&](std::string_view package) {
    return !column.asks_for(package) || pair_of_torch(package, torch, knowledge);
  });
}

// What torch asks for in one version alone, where the column pins another. Pins of requirements
// files are left out instead (torch_edits).
void move_parts(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                std::vector<AlignmentEdit>& edits) {
  const PackageNeeds* const needs = knowledge.package("torch", target.public_part());
  for (const std::string& text : needs == nullptr ? std::vector<std::string>() : needs->requires_) {
    const auto need = parse_requirement(text);
    const auto range = SpecifierSet::parse(need ? need->specifier : "");
    const Resolved part = need ? resolve(column, need->name) : Resolved();
    if (!range || range->clauses.empty() || !part.version || range->contains(*part.version) ||
        !part.by->requirement->url.empty() || part.by->recipe->kind == "requirements") {
      continue;
    }
    AlignmentEdit edit = pin_edit(column, *part.by, need->specifier,
                                  fmt::format("torch {} asks for it", target.public_part().text()));
    if (!is_lock(edit.file) || edit.refused) {
      add_edit(edits, std::move(edit));
    }
  }
}

}  // namespace

std::optional<Version> torch_with_neighbours(const RecipeColumn& column, const Version& target,
                                             const Knowledge& knowledge) {
  const Neighbours neighbours = neighbours_of(column, knowledge);
  const PackageReleases* const known = knowledge.releases_of("torch");
  const auto go_along = [&](const Version& torch) {
    return moved_neighbours(column, neighbours, torch, knowledge, true).has_value();
  };
  if (known == nullptr || go_along(target)) {
    return std::nullopt;
  }
  for (auto release = known->releases.rbegin(); release != known->releases.rend(); ++release) {
    Version torch = *release;
    torch.local = target.local;
    const TorchRelease* const of = knowledge.torch_release(torch);
    if (torch > target && of != nullptr && of->variant(target.local_text()) != nullptr &&
        takes_python(column, "torch", torch, knowledge) &&
        has_companions(column, torch, knowledge) && go_along(torch)) {
      return torch;
    }
  }
  return std::nullopt;
}

void move_neighbours(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                     std::vector<AlignmentEdit>& edits) {
  const Neighbours neighbours = neighbours_of(column, knowledge);
  const auto moved = moved_neighbours(column, neighbours, target, knowledge, false);
  for (const auto& [package, needs] : moved ? *moved : Chosen()) {
    AlignmentEdit edit =
        pin_edit(column, *neighbours.at(package).by, "==" + needs->versions.from.text(),
                 fmt::format("it asks for torch {}", target.public_part().text()));
    // What a lock alone pins is found anew by what makes it.
    if (!is_lock(edit.file) || edit.refused) {
      add_edit(edits, std::move(edit));
    }
  }
  move_parts(column, target, knowledge, edits);
}

std::optional<Version> torch_of_build(const Requirement& requirement) {
  const std::string text =
      requirement.url.ends_with(".whl") ? last_name(requirement.url) : requirement.specifier;
  size_t local = text.find('+');
  local = local == std::string::npos ? text.find("%2B") : local;
  if (local == std::string::npos) {
    return std::nullopt;
  }
  for (const std::string_view word : {"torch", "pt"}) {
    size_t begin = text.find(word, local);
    if (begin == std::string::npos) {
      continue;
    }
    begin += word.size();
    const size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
    std::string version = text.substr(begin, end - begin);
    while (version.ends_with('.')) {
      version.pop_back();
    }
    if (version.size() > 1 && !version.contains('.')) {
      version.insert(1, ".");  // "26"
    }
    const auto torch = version.contains('.') ? Version::parse(version) : Version::parse("");
    if (torch) {
      return *torch;
    }
  }
  return std::nullopt;
}

bool is_built_with_torch(std::string_view package) {
  static constexpr std::array<std::string_view, 22> kPackages = {"apex",
                                                                 "auto-gptq",
                                                                 "autoawq-kernels",
                                                                 "causal-conv1d",
                                                                 "detectron2",
                                                                 "fbgemm-gpu",
                                                                 "flash-attn",
                                                                 "flash-attn-3",
                                                                 "gptqmodel",
                                                                 "k2",
                                                                 "mamba-ssm",
                                                                 "mmcv",
                                                                 "natten",
                                                                 "pyg-lib",
                                                                 "pytorch3d",
                                                                 "sageattention",
                                                                 "sgl-kernel",
                                                                 "torch-cluster",
                                                                 "torch-scatter",
                                                                 "torch-sparse",
                                                                 "torch-spline-conv",
                                                                 "transformer-engine"};
  return std::ranges::find(kPackages, package) != kPackages.end();
}

}  // namespace mynah::doctor
