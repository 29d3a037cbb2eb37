#include "doctor/recipes/brought_frameworks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "doctor/knowledge/pythons.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_runs.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// Of which a reader is told even where nothing is known of the version: most others are compiled
// where they are installed.
bool gets_a_row(std::string_view package) {
  return package == "torch" || package == "ctranslate2" || package == "onnxruntime-gpu";
}

void doubt_all(Framework& framework) {
  framework.unverified.insert(framework.unverified.end(), {"code", "cudnn", "libraries", "ptx"});
}

// conda's torch, which is of the CUDA version that pytorch-cuda names; what its builds hold is not
// what those of the wheels hold (pytorch/builder conda/pytorch-nightly/build.sh@02aceb42), and
// nobody looked into them.
Brought brought_by_conda(const RecipeColumn& column, const Resolved& torch,
                         const Knowledge& knowledge) {
  Brought brought{.frameworks = {}, .by = torch.by};
  const PackageReleases* known = knowledge.releases_of("torch");
  std::optional<Version> version = torch.version;
  if (!version && known != nullptr) {
    const ListedReleases listed = listed_releases(*known, torch.range);
    if (listed.no_newer && listed.no_older && !listed.versions.empty()) {
      version = listed.versions.front();
    }
  }
  if (!version) {
    return brought;
  }
  Framework framework = unknown_framework("torch", *version);
  framework.source = "conda's packages, which nobody looked into";
  const Resolved cuda = resolve(column, "pytorch-cuda");
  if (column.asks_for("cpuonly")) {
    framework.cuda = "";
  } else if (cuda.by != nullptr && cuda.range.clauses.size() == 1 &&
             cuda.range.clauses[0].relation == Specifier::Relation::Equal) {
    framework.cuda = cuda.range.clauses[0].version.text();
  }
  brought.frameworks.push_back(std::move(framework));
  return brought;
}

// The releases of a torch that come from the index that is named, of those that are listed.
std::vector<Version> torch_of_index(const RecipeColumn& column, const Asked& by,
                                    const std::vector<Version>& listed,
                                    const Knowledge& knowledge) {
  const std::string only = only_variant(column, by, knowledge);
  std::set<std::string> named;
  for (const std::string& url : urls_of(column, *by.requirement)) {
    named.insert(variant_of_index(url));
  }
  named.erase("");
  std::vector<Version> found;
  if (named.size() > 1) {
    return found;  // which of them is taken is not known
  }
  const std::string variant = named.empty() ? "" : *named.begin();
  const auto local = Version::parse("0+" + variant);
  for (Version version : listed) {
    const TorchRelease* release = knowledge.torch_release(version);
    const bool cuda = !cuda_of_variant(variant).empty();
    const bool there =
        local && (!cuda || (release != nullptr && release->variant(variant) != nullptr));
    if (there) {
      version.local = local->local;
    } else if (!only.empty()) {
      continue;
    }
    found.push_back(with_variant(std::move(version), knowledge));
  }
  return found;
}

// What a range lets in, where that is known: no release that is newer than those of the list, or of
// an index that gets no new ones.
Brought brought_by_range(const RecipeColumn& column, std::string_view package,
                         const Resolved& resolved, System system, const Knowledge& knowledge) {
  Brought brought{.frameworks = {}, .by = resolved.by, .range = true};
  const auto all = column.packages.find(std::string(package));
  const PackageReleases* known = knowledge.releases_of(package);
  // Commands of an image follow each other: the last may bring another one.
  const auto asked =
      std::ranges::count_if(all->second, [](const Asked& one) { return !one.bound; });
  const bool elsewhere = std::ranges::any_of(
      all->second, [](const Asked& one) { return !one.requirement->url.empty(); });
  if (known == nullptr || !gets_a_row(package) || !resolved.several.empty() || elsewhere ||
      (asked > 1 && resolved.by->recipe->kind == "dockerfile")) {
    return brought;
  }
  const ListedReleases listed = listed_releases(*known, resolved.range);
  if (!listed.no_newer) {
    // Then the index that it comes from may bound it.
    brought.ended = package == "torch" && comes_first(column, *resolved.by)
                        ? ended_variant(column, *resolved.by, knowledge)
                        : "";
    if (brought.ended.empty()) {
      return brought;
    }
  }
  brought.no_older = listed.no_older;
  const bool sure =
      std::ranges::all_of(all->second, [](const Asked& one) { return one.holds == Truth::Yes; });
  for (const Version& version :
       package == "torch" ? torch_of_index(column, *resolved.by, listed.versions, knowledge)
                          : listed.versions) {
    auto framework = known_framework(package, version, system, knowledge);
    if (!framework) {
      brought.frameworks.clear();
      return brought;
    }
    if (!sure || displaced(column, package, knowledge) ||
        may_have_own_builds(column, *resolved.by->requirement, knowledge)) {
      doubt_all(*framework);
    }
    brought.frameworks.push_back(*std::move(framework));
  }
  return brought;
}

// The torch releases that have wheels for the column's Python, where that is known.
std::vector<Version> for_python(std::vector<Version> releases, const RecipeColumn& column,
                                std::string_view package, const Knowledge& knowledge) {
  const auto python = Version::parse(column.python);
  if (python) {
    std::erase_if(releases, [&](const Version& release) {
      const auto pythons = pythons_of(package, release, knowledge);
      return pythons && !pythons->range.contains(*python);
    });
  }
  return releases;
}

// The newest release of a range that comes from where `newest.by` does.
void add_newest(Brought& newest, const RecipeColumn& column, std::string_view package,
                const SpecifierSet& range, System system, const Knowledge& knowledge) {
  const PackageReleases* const known = knowledge.releases_of(package);
  std::vector<Version> releases =
      known == nullptr
          ? std::vector<Version>()
          : for_python(listed_releases(*known, range).versions, column, package, knowledge);
  if (package == "torch") {
    releases = torch_of_index(column, *newest.by, releases, knowledge);
  }
  for (const Version& release : releases) {
    if (auto framework = known_framework(package, release, system, knowledge)) {
      newest.frameworks.push_back(*std::move(framework));
      break;
    }
  }
}

// Whether one run of an installer brings what a package asks for, from the Python index: nothing
// else is installed, read or named that might bring another one.
bool comes_as_asked(const RecipeColumn& column, const Asked& asked) {
  const std::vector<std::string> urls = urls_of(column, *asked.requirement);
  const bool known = std::ranges::all_of(column.recipes, [](const Recipe* recipe) {
    return recipe->doubts.empty() && recipe->kind != "lock";
  });
  if (!known || !std::ranges::all_of(urls, looks_like_python_index) || !column.group.empty() ||
      column.processor != "x86_64" || !column.other_machine.empty()) {
    return false;
  }
  if (!column.is_image()) {
    return column.root->kind == "requirements" || column.root->kind == "pyproject";
  }
  const Recipe* const image = column.dockerfile();
  return image != nullptr && says_all(column) && asked.how != nullptr && !asked.how->doubtful &&
         !asked.how->unknown && image->steps.size() == 1;
}

// Whether that is known to be one version, and which one comes of it.
bool is_exact(const RecipeColumn& column, const Derived& other, const Brought& newest,
              const Knowledge& knowledge) {
  const auto pinned = other.asks.pinned();
  const auto version = newest.frameworks.empty()
                           ? Version::parse("")
                           : Version::parse(newest.frameworks.front().version);
  const Bounds bounds = column.bounds_of("torch");
  const TorchRelease* const release = pinned ? knowledge.torch_release(*pinned) : nullptr;
  return pinned && version && version->public_part() == *pinned && release != nullptr &&
         release->default_variant.verified &&
         release->default_variant.value == version->local_text() && other.verified && other.plain &&
         !bounds.overrides && bounds.range.clauses.empty() && comes_as_asked(column, *other.asked);
}

// What no line asks for itself, and another package does; not where an image may have it already.
Brought newest_of_others(const RecipeColumn& column, std::string_view package, System system,
                         const Knowledge& knowledge) {
  const Derived other = brought(column, package, knowledge);
  Brought newest{.frameworks = {}, .by = other.asked, .range = true, .open = true};
  newest.through = other.by;
  if (other.asked == nullptr || !column.image_torch.empty() || column.keeps_unnamed_torch() ||
      other.asked->holds != Truth::Yes || !other.asked->requirement->url.empty() ||
      other.asked->recipe->kind == "lock" || !comes_first(column, *other.asked) ||
      may_have_own_builds(column, *other.asked->requirement, knowledge)) {
    newest.by = nullptr;
    return newest;
  }
  add_newest(newest, column, package, other.range, system, knowledge);
  if (other.asks.pinned()) {
    newest.asks = other.asks.text();
    newest.exact =
        package == "torch" && system == System::Linux && is_exact(column, other, newest, knowledge);
  }
  return newest;
}

}  // namespace

Brought brought_by(const RecipeColumn& column, std::string_view package, System system,
                   const Knowledge& knowledge) {
  const Resolved resolved = resolve(column, package);
  const auto version = package == "torch" ? torch_of(column, knowledge) : resolved.version;
  if (resolved.by != nullptr && resolved.by->requirement->url == "conda") {
    return package == "torch" ? brought_by_conda(column, resolved, knowledge) : Brought();
  }
  if (!version) {
    return resolved.by != nullptr ? brought_by_range(column, package, resolved, system, knowledge)
                                  : Brought();
  }
  Brought brought{.frameworks = {}, .by = resolved.by};
  auto framework = known_framework(package, *version, system, knowledge);
  if (!framework && column.asks_for(package) && gets_a_row(package)) {
    framework = unknown_framework(package, *version);
  }
  if (framework) {
    if (!resolved.sure || displaced(column, package, knowledge) ||
        (resolved.by != nullptr &&
         may_have_own_builds(column, *resolved.by->requirement, knowledge))) {
      doubt_all(*framework);
    }
    brought.frameworks.push_back(*std::move(framework));
  }
  return brought;
}

Brought newest_of_range(const RecipeColumn& column, std::string_view package, System system,
                        const Knowledge& knowledge) {
  if ((package == "torch" || package == "ctranslate2") && !column.asks_for(package)) {
    return newest_of_others(column, package, system, knowledge);
  }
  const Resolved resolved = resolve(column, package);
  Brought newest{.frameworks = {}, .by = resolved.by, .range = true, .open = true};
  const PackageReleases* const known = knowledge.releases_of(package);
  if (known == nullptr || resolved.by == nullptr || resolved.version || !resolved.several.empty() ||
      !gets_a_row(package) || !comes_first(column, *resolved.by) ||
      may_have_own_builds(column, *resolved.by->requirement, knowledge)) {
    return newest;
  }
  const std::vector<Asked>& all = column.packages.at(std::string(package));
  if (!std::ranges::all_of(all, [](const Asked& one) {
        return one.holds == Truth::Yes && one.requirement->url.empty();
      })) {
    return newest;
  }
  // What others ask for bounds it, too.
  SpecifierSet range = resolved.range;
  const Derived others = brought(column, package, knowledge);
  range.clauses.insert(range.clauses.end(), others.range.clauses.begin(),
                       others.range.clauses.end());
  add_newest(newest, column, package, range, system, knowledge);
  return newest;
}

}  // namespace mynah::doctor
