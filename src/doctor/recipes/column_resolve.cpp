// What the words of a column for one package come to.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

namespace {

bool is_companion(std::string_view package) {
  return package == "torch" || package == "torchaudio" || package == "torchvision";
}

// Variants of PyTorch that the indexes of a requirement give; those of its own come first.
std::set<std::string> variants_of(const RecipeColumn& column, const Requirement& requirement) {
  std::set<std::string> variants;
  for (const std::string& url : urls_of(column, requirement)) {
    variants.insert(variant_of_index(url));
  }
  variants.erase("");
  return variants;
}

}  // namespace

Resolved resolve(const RecipeColumn& column, std::string_view package) {
  Resolved resolved;
  const auto found = column.packages.find(std::string(package));
  if (found == column.packages.end() || !column.asks_for(package)) {
    return resolved;
  }
  std::vector<Version> locked;
  for (const Asked& asked : found->second) {
    const auto set = SpecifierSet::parse(asked.requirement->specifier);
    if (!set) {
      continue;
    }
    resolved.range.clauses.insert(resolved.range.clauses.end(), set->clauses.begin(),
                                  set->clauses.end());
    const auto version = set->pinned();
    // A lock may hold one version for each extra, and not say in its markers which is whose.
    std::vector<Version>& others = asked.requirement->locked ? locked : resolved.several;
    if (version && !asked.bound && (asked.requirement->locked || asked.holds == Truth::NotKnown) &&
        std::ranges::find(others, *version) == others.end()) {
      others.push_back(*version);
    }
    const bool better =
        version && (!resolved.version || (asked.requirement->locked && !resolved.locked));
    if (better) {
      resolved.version = version;
      resolved.locked = asked.requirement->locked;
    }
    if (better || resolved.by == nullptr) {
      resolved.by = &asked;
      resolved.sure = asked.holds == Truth::Yes;
    }
  }
  if (resolved.locked) {
    resolved.several = std::move(locked);
  }
  if (resolved.several.size() > 1 && (resolved.locked || !resolved.sure)) {
    resolved.version.reset();
    return resolved;
  }
  resolved.several.clear();
  if (resolved.by != nullptr && resolved.version && resolved.version->local.empty() &&
      is_companion(package) && resolved.by->requirement->url.empty()) {
    const std::set<std::string> variants = variants_of(column, *resolved.by->requirement);
    resolved.sure = resolved.sure && variants.size() < 2;
    if (variants.size() == 1) {
      if (auto local = Version::parse("0+" + *variants.begin())) {
        resolved.version->local = local->local;
      }
    }
  }
  return resolved;
}

}  // namespace mynah::doctor
