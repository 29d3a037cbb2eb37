// What pinned packages ask of each other, and builds of PyTorch that never were.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

bool is_locked(const Resolved& resolved) {
  return resolved.by->requirement->locked;
}

void judge_need(Diagnosis& diagnosis, const RecipeColumn& column, const PackageNeeds& needs,
                const Resolved& one, const Requirement& need, Proposals& proposals) {
  const Resolved other = resolve(column, need.name);
  const auto wanted = SpecifierSet::parse(need.specifier);
  if (!other.version || !wanted || wanted->contains(*other.version) ||
      other.by->requirement->overrides || !other.by->requirement->url.empty() ||
      (is_locked(one) && is_locked(other))) {
    return;
  }
  Truth holds = Truth::Yes;
  if (!need.marker.empty()) {
    const System system = column.image.empty() ? diagnosis.facts.machine.system : System::Linux;
    const auto marker = Marker::parse(need.marker);
    holds = marker ? marker->holds({.system = system, .python = column.python, .extras = {}})
                   : Truth::NotKnown;
  }
  if (holds == Truth::No) {
    return;
  }
  const bool together = is_one_run(column);
  const bool certain = together && needs.verified && one.sure && other.sure && holds == Truth::Yes;
  const std::string title = fmt::format("{} {}", needs.package, one.version->text());
  Finding& finding = add_finding(
      diagnosis, "requirements contradict", together ? failing(certain) : Level::Warning,
      sure(certain), fmt::format("{} in {}", needs.package, column.name),
      fmt::format(
          "{} asks for {}{}, and {} is pinned: {}.", title, need.name, need.specifier,
          other.version->text(),
          together ? "an installer refuses them" : "what is installed last replaces the other"));
  finding.evidence = {
      evidence_of(*one.by),
      evidence_of(*other.by),
      {fmt::format("{} asks for {}{}", title, need.name, need.specifier), needs.source}};
  if (together) {
    finding.error = "ResolutionImpossible";
  }
  propose(diagnosis, proposals,
          {pin_edit(column, *other.by, need.specifier, fmt::format("{} asks for it", title))});
}

// Releases that a column's torch is, or may be: of a range that is bounded on both sides.
std::vector<Version> releases_of_torch(const Resolved& torch, const Knowledge& knowledge) {
  const PackageReleases* known = knowledge.releases_of("torch");
  if (torch.version) {
    const bool there = knowledge.listing_of("torch", *torch.version) == Listing::There;
    return there ? std::vector<Version>{*torch.version} : std::vector<Version>();
  }
  if (known == nullptr || !torch.several.empty()) {
    return {};
  }
  const ListedReleases listed = listed_releases(*known, torch.range);
  return listed.no_newer && listed.no_older ? listed.versions : std::vector<Version>();
}

}  // namespace

// What belongs to one run of an installer: a file that no command names, with all that it includes.
// Files that a Dockerfile installs are several runs, of which nothing is certain.
bool is_one_run(const RecipeColumn& column) {
  return column.service == nullptr && column.root->kind != "dockerfile";
}

void judge_needs(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  for (const PackageNeeds& needs : knowledge.packages) {
    const Resolved one = resolve(column, needs.package);
    // Of several entries that a version is of the first counts: it is the closest.
    if (!one.version || !one.by->requirement->url.empty() ||
        knowledge.package(needs.package, *one.version) != &needs) {
      continue;
    }
    for (const std::string& text : needs.requires_) {
      if (const auto need = parse_requirement(text)) {
        judge_need(diagnosis, column, needs, one, *need, proposals);
      }
    }
  }
}

void judge_torch_build(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const Resolved torch = resolve(column, "torch");
  if (torch.by == nullptr || !torch.by->requirement->url.empty()) {
    return;
  }
  const Requirement& requirement = *torch.by->requirement;
  const bool written = requirement.specifier.find('+') != std::string::npos;
  const std::string variant = written && torch.version ? torch.version->local_text()
                                                       : only_variant(column, *torch.by, knowledge);
  const std::vector<Version> releases = releases_of_torch(torch, knowledge);
  const auto may_be = [&](const Version& version) {
    const TorchRelease* release = knowledge.torch_release(version);
    return release == nullptr || release->variant(variant) != nullptr;
  };
  if (cuda_of_variant(variant).empty() || releases.empty() ||
      std::ranges::any_of(releases, may_be)) {
    return;
  }
  const Version& newest = releases.front();
  const TorchRelease& release = *knowledge.torch_release(newest);
  std::vector<std::string> builds;
  builds.reserve(release.variants.size());
  for (const TorchVariant& known : release.variants) {
    builds.push_back(known.cuda);
  }
  const std::string pin = requirement.name + requirement.specifier;
  Finding& finding = add_finding(
      diagnosis, "no such build", Level::Unknown, Certainty::Likely,
      fmt::format("{} in {}", pin, torch.by->recipe->path),
      fmt::format("Of torch {} the builds for {} are known, and none for {}: an installer may find "
                  "nothing that it can take.",
                  newest.public_part().text(), fmt::join(builds, ", "), variant));
  finding.evidence = {evidence_of(*torch.by), {"its builds", release.source}};
  finding.error = fmt::format("No matching distribution found for {}", pin);
  // The newest CUDA version of which something is known first.
  for (auto known = release.variants.rbegin(); known != release.variants.rend(); ++known) {
    const auto local = Version::parse("0+" + known->cuda);
    if (!known->verified || !local) {
      continue;
    }
    Version target = newest.public_part();
    target.local = local->local;
    propose(diagnosis, proposals,
            torch_edits(column, target,
                        fmt::format("torch {} has a build for it", newest.public_part().text()),
                        knowledge));
  }
}

}  // namespace mynah::doctor
