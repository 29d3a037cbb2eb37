#include "doctor/knowledge/pythons.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include <fmt/format.h>

namespace mynah::doctor {

std::optional<Pythons> pythons_of(std::string_view package, const Version& version,
                                  const Knowledge& knowledge) {
  const auto of = [](const auto* release) {
    if (release == nullptr || release->python.clauses.empty()) {
      return std::optional<Pythons>();
    }
    Pythons pythons;
    pythons.verified = release->verified;
    pythons.source = release->source;
    pythons.range = release->python;
    return std::optional(pythons);
  };
  if (package == "torch") {
    return of(knowledge.torch_release(version));
  }
  if (package == "onnxruntime-gpu") {
    return of(knowledge.onnxruntime_release(version));
  }
  if (package == "ctranslate2") {
    return of(knowledge.ctranslate2_release(version));
  }
  const PackageNeeds* const needs = knowledge.package(package, version);
  if (needs == nullptr) {
    return std::nullopt;
  }
  const auto range = SpecifierSet::parse(needs->python);
  if (!range || range->clauses.empty()) {
    return std::nullopt;
  }
  Pythons pythons;
  pythons.verified = needs->verified;
  pythons.source = needs->source;
  pythons.range = *range;
  pythons.wheels = std::ranges::find(knowledge.glibc_wheels, package, &GlibcWheels::package) !=
                   knowledge.glibc_wheels.end();
  return pythons;
}

std::vector<std::string> pythons_in(const std::vector<SpecifierSet>& ranges) {
  constexpr int kNewest = 30;
  constexpr int kOldest = 6;
  // A series is tried with its first release, a late one, and those that stand at a bound.
  std::set<uint64_t> patches = {0, 99};
  for (const SpecifierSet& range : ranges) {
    for (const Specifier& clause : range.clauses) {
      const uint64_t patch = clause.version.release_at(2);
      patches.insert({patch, patch + 1, patch == 0 ? 0 : patch - 1});
    }
  }
  std::vector<std::string> found;
  for (int minor = kNewest; minor >= kOldest; --minor) {
    const bool some = std::ranges::any_of(patches, [&](uint64_t patch) {
      const auto version = Version::parse(fmt::format("3.{}.{}", minor, patch));
      return version && std::ranges::all_of(ranges, [&](const SpecifierSet& range) {
               return range.contains(*version);
             });
    });
    if (some) {
      found.push_back(fmt::format("3.{}", minor));
    }
  }
  return found;
}

}  // namespace mynah::doctor
