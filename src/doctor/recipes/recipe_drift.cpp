#include "doctor/recipes/recipe_drift.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

// Whether a range may let in some version of [from, below): tried with its own bounds and those of
// the range, which is exact enough for releases of two or three numbers.
bool meets(const SpecifierSet& range, const Version& from, const std::optional<Version>& below) {
  std::vector<Version> tried = {from};
  if (below) {
    if (const auto last = Version::parse(last_before(*below))) {
      tried.push_back(*last);
    }
  }
  for (const Specifier& clause : range.clauses) {
    if (clause.version.release.empty()) {
      continue;  // "===" and a word that is no version
    }
    tried.push_back(clause.version);
    if (const auto last = Version::parse(last_before(clause.version))) {
      tried.push_back(*last);
    }
  }
  return std::ranges::any_of(tried, [&](const Version& version) {
    return version >= from && (!below || version < *below) && range.contains(version);
  });
}

std::string wants_text(int cuda_major, int cudnn_major) {
  return cudnn_major == 0 ? fmt::format("CUDA {} without cuDNN", cuda_major)
                          : fmt::format("CUDA {} and cuDNN {}", cuda_major, cudnn_major);
}

void add(std::vector<Stretch>& all, const SpecifierSet& range, const VersionRange& versions,
         int cuda_major, int cudnn_major, bool verified) {
  if (!meets(range, versions.from, versions.below)) {
    return;
  }
  if (!all.empty() && all.back().cuda_major == cuda_major &&
      all.back().cudnn_major == cudnn_major) {
    all.back().below = versions.below;
    all.back().verified &= verified;
    return;
  }
  all.push_back({.from = versions.from,
                 .below = versions.below,
                 .wants = wants_text(cuda_major, cudnn_major),
                 .cuda_major = cuda_major,
                 .cudnn_major = cudnn_major,
                 .verified = verified});
}

int major_of(std::string_view version) {
  const auto parsed = Version::parse(version);
  return parsed ? static_cast<int>(std::min<uint64_t>(parsed->release_at(0), 99)) : 0;
}

// Whether the lock that pins a package holds another, which is not installed here: its markers, or
// an override of the project, say so.
bool left_out(const RecipeColumn& column, const Recipe& lock, std::string_view package) {
  return lock.kind == "lock" && !column.asks_for(package) &&
         std::ranges::find(lock.requirements, package, &Requirement::name) !=
             lock.requirements.end();
}

}  // namespace

bool is_wanted(const Requirement& need, const Requirement& asked) {
  if (!need.marker.contains("extra")) {
    return true;
  }
  const auto marker = Marker::parse(need.marker);
  return marker && marker->holds({.system = System::Linux, .python = {}, .extras = asked.extras}) !=
                       Truth::No;
}

Derived derived(const RecipeColumn& column, std::string_view package, const Knowledge& knowledge) {
  Derived found;
  std::string_view last;
  Resolved resolved;  // entries of one package stand together
  for (const PackageNeeds* const entry : knowledge.asking_for(package)) {
    const PackageNeeds& needs = *entry;
    const std::string& name = needs.package;
    if (name != last) {
      resolved = resolve(column, name);
      last = name;
    }
    // Of several entries that a version is of the first counts: it is the closest.
    if (!resolved.version || !resolved.by->brings_needs() ||
        knowledge.package(name, *resolved.version) != &needs ||
        left_out(column, *resolved.by->recipe, package)) {
      continue;
    }
    for (const std::string& text : needs.requires_) {
      const auto requirement = parse_requirement(text);
      if (!requirement || requirement->name != package ||
          !is_wanted(*requirement, *resolved.by->requirement)) {
        continue;
      }
      if (const auto range = SpecifierSet::parse(requirement->specifier)) {
        // Of several that ask for it, the one is named that asks for one version.
        if (!found.range.pinned()) {
          found.by = fmt::format("{} {}", name, resolved.version->text());
          found.asked = resolved.by;
          found.verified = needs.verified;
        }
        found.range.clauses.insert(found.range.clauses.end(), range->clauses.begin(),
                                   range->clauses.end());
        found.plain &= requirement->marker.empty();
      }
    }
  }
  if (!found.by.empty()) {
    found.asks = found.range;
    const Bounds bounds = column.bounds_of(package);
    if (bounds.overrides) {
      found.range.clauses.clear();
    }
    found.range.clauses.insert(found.range.clauses.end(), bounds.range.clauses.begin(),
                               bounds.range.clauses.end());
  }
  return found;
}

namespace {

// What a column says of a package that no pin of its own decides: a range, or what a pinned package
// asks for. None: nobody asks for it.
std::optional<Derived> open_range(const RecipeColumn& column, const std::string& package,
                                  const Knowledge& knowledge) {
  const Resolved resolved = resolve(column, package);
  if (resolved.by == nullptr) {
    Derived other = derived(column, package, knowledge);
    return other.by.empty() ? std::nullopt : std::optional(std::move(other));
  }
  const bool open = !resolved.version && resolved.several.empty() && resolved.by->brings_needs() &&
                    resolved.by->requirement->url.empty();
  return open ? std::optional(Derived{.by = package, .asked = resolved.by, .range = resolved.range})
              : std::nullopt;
}

}  // namespace

Derived brought(const RecipeColumn& column, std::string_view package, const Knowledge& knowledge) {
  Derived pinned = derived(column, package, knowledge);
  if (!pinned.by.empty()) {
    return pinned;
  }
  std::set<std::string_view> asking;
  for (const PackageNeeds* const needs : knowledge.asking_for(package)) {
    asking.insert(needs->package);
  }
  asking.erase(package);
  for (const PackageReleases& known : knowledge.releases) {
    const auto open = asking.contains(known.package) ? open_range(column, known.package, knowledge)
                                                     : std::nullopt;
    const ListedReleases listed = open ? listed_releases(known, open->range) : ListedReleases();
    const PackageNeeds* const needs =
        listed.versions.empty() ? nullptr
                                : knowledge.package(known.package, listed.versions.front());
    if (needs == nullptr) {
      continue;
    }
    for (const std::string& text : needs->requires_) {
      const auto requirement = parse_requirement(text);
      if (!requirement || requirement->name != package || !requirement->marker.empty()) {
        continue;
      }
      if (const auto range = SpecifierSet::parse(requirement->specifier)) {
        return {.by = known.package, .asked = open->asked, .range = *range, .verified = false};
      }
    }
  }
  return {};
}

std::vector<Stretch> stretches(std::string_view package, const SpecifierSet& range,
                               const Knowledge& knowledge, std::string_view variant_name) {
  std::vector<Stretch> all;
  if (package == "ctranslate2") {
    for (const CTranslate2Release& release : knowledge.ctranslate2) {
      add(all, range, release.versions, release.cuda_major, release.cudnn_major, release.verified);
    }
  } else if (package == "onnxruntime-gpu") {
    for (const OnnxRuntimeRelease& release : knowledge.onnxruntime) {
      add(all, range, release.versions, release.cuda_major, release.cudnn_major, release.verified);
    }
  } else if (package == "torch") {
    for (size_t i = 0; i < knowledge.torch.size(); ++i) {
      const TorchRelease& release = knowledge.torch[i];
      const TorchVariant* variant =
          release.variant(variant_name.empty() ? release.default_variant.value : variant_name);
      const auto from = Version::parse(release.torch);
      if (variant == nullptr || !from) {
        continue;
      }
      VersionRange versions{.from = *from, .below = {}};
      if (i + 1 < knowledge.torch.size()) {
        if (auto below = Version::parse(knowledge.torch[i + 1].torch)) {
          versions.below = *below;
        }
      }
      add(all, range, versions, major_of(cuda_of_variant(variant->cuda)), major_of(variant->cudnn),
          (release.default_variant.verified || !variant_name.empty()) && variant->verified);
    }
  }
  return all;
}

std::optional<Stretch> stretch_of(std::string_view package, const Version& version,
                                  const Knowledge& knowledge) {
  SpecifierSet exactly;
  exactly.clauses.push_back({.relation = Specifier::Relation::Equal,
                             .version = version.public_part(),
                             .any_below = false,
                             .spelling = {}});
  auto all = stretches(package, exactly, knowledge);
  return all.size() == 1 ? std::optional(std::move(all.front())) : std::nullopt;
}

std::string last_before(const Version& version) {
  Version last = version.base();
  while (last.release.size() > 1 && last.release.back() == 0) {
    last.release.pop_back();
  }
  if (last.release.back() > 0) {
    --last.release.back();
  }
  return last.text();
}

std::string stretches_text(const std::vector<Stretch>& stretches) {
  std::string text;
  for (const Stretch& stretch : stretches) {
    const bool last = &stretch == &stretches.back();
    text += text.empty() ? "" : ", ";
    text += last ? fmt::format("{} from {}", stretch.wants, stretch.from.text())
                 : fmt::format("{} up to {}", stretch.wants,
                               stretch.below ? last_before(*stretch.below) : "now");
  }
  return text;
}

}  // namespace mynah::doctor
