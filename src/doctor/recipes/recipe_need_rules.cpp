// What pinned packages ask of each other, and builds of PyTorch that never were.
#include <algorithm>
#include <optional>
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

// A pin that does not meet what a package asks for.
struct Unmet {
  Requirement need;
  Resolved other;
  bool certain = false;  // the condition of the need holds, and the pin does
};

std::optional<Unmet> unmet(const Machine& machine, const RecipeColumn& column, const Resolved& one,
                           Requirement need) {
  Resolved other = resolve(column, need.name);
  const auto wanted = SpecifierSet::parse(need.specifier);
  if (!other.version || !wanted || wanted->contains(*other.version) ||
      other.by->requirement->overrides || !other.by->requirement->url.empty() ||
      (is_locked(one) && is_locked(other))) {
    return std::nullopt;
  }
  Truth holds = Truth::Yes;
  if (!need.marker.empty()) {
    const System system = system_of(column, machine);
    const auto marker = Marker::parse(need.marker);
    holds = marker ? marker->holds({.system = system,
                                    .python = column.python,
                                    .machine = column.processor,
                                    .extras = {}})
                   : Truth::NotKnown;
  }
  if (holds == Truth::No) {
    return std::nullopt;
  }
  const bool certain = other.sure && holds == Truth::Yes;
  return Unmet{.need = std::move(need), .other = std::move(other), .certain = certain};
}

// All that one package asks for and does not get is one finding: it is mended as one.
void judge_package(Diagnosis& diagnosis, const RecipeColumn& column, const PackageNeeds& needs,
                   const Resolved& one, const std::vector<Unmet>& all, Proposals& proposals) {
  const bool together = is_one_run(column);
  const bool certain =
      together && needs.verified && one.sure && std::ranges::any_of(all, &Unmet::certain);
  const std::string title = fmt::format("{} {}", needs.package, one.version->text());
  std::vector<std::string> words;
  std::vector<AlignmentEdit> edits;
  std::vector<Evidence> pins;
  for (const Unmet& each : all) {
    words.push_back(fmt::format("{}{}, and {} is pinned", each.need.name, each.need.specifier,
                                each.other.version->text()));
    edits.push_back(pin_edit(column, *each.other.by, each.need.specifier,
                             fmt::format("{} asks for it", title)));
    pins.push_back(evidence_of(*each.other.by));
  }
  Finding& finding = add_finding(
      diagnosis, "requirements contradict", together ? failing(certain) : Level::Warning,
      sure(certain), fmt::format("{} in {}", needs.package, column.name),
      fmt::format(
          "{} asks for {}: {}.", title, fmt::join(words, "; for "),
          together ? "an installer refuses them" : "what is installed last replaces the other"));
  finding.evidence = {evidence_of(*one.by)};
  finding.evidence.insert(finding.evidence.end(), pins.begin(), pins.end());
  finding.evidence.push_back({fmt::format("what {} asks for", title), needs.source});
  if (together) {
    finding.error = "ResolutionImpossible";
  }
  propose(diagnosis, proposals, std::move(edits), fmt::format("Take what {} asks for.", title));
}

// What torch's wheel for Linux asks for of cuDNN; none: it is not known. Of a series of torch one
// cuDNN is known, which a later fix of that series may have changed: only another major version is
// certain to be refused.
std::optional<PackageNeeds> cudnn_of_torch(const RecipeColumn& column, const Resolved& torch,
                                           const Knowledge& knowledge) {
  const auto version = torch_of(column, knowledge);
  const TorchRelease* release = version ? knowledge.torch_release(*version) : nullptr;
  const TorchVariant* variant = version ? knowledge.torch_variant(*version) : nullptr;
  const std::string& url = torch.by->requirement->url;
  if (release == nullptr || variant == nullptr || variant->cudnn.empty() || !url.empty()) {
    return std::nullopt;
  }
  const std::string package =
      fmt::format("nvidia-cudnn-cu{}", major_version(cuda_of_variant(variant->cuda)));
  const Resolved pinned = resolve(column, package);
  const bool other_major =
      pinned.version && major_version(pinned.version->text()) != major_version(variant->cudnn);
  // Wheels of other builds than the Python index's may bring cuDNN inside.
  const bool of_python_index = variant->cuda == release->default_variant.value;
  PackageNeeds needs;
  needs.package = "torch";
  needs.requires_ = {
      fmt::format("{}=={}; platform_system == \"Linux\" and platform_machine == "
                  "\"x86_64\"",
                  package, variant->cudnn)};
  needs.verified =
      variant->verified && release->default_variant.verified && other_major && of_python_index;
  needs.source = variant->source;
  return needs;
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
  const auto judge = [&](const PackageNeeds& needs, const Resolved& one) {
    std::vector<Unmet> all;
    for (const std::string& text : needs.requires_) {
      auto need = parse_requirement(text);
      auto found = need ? unmet(diagnosis.facts.machine, column, one, *std::move(need))
                        : std::optional<Unmet>();
      if (found) {
        all.push_back(*std::move(found));
      }
    }
    if (!all.empty()) {
      judge_package(diagnosis, column, needs, one, all, proposals);
    }
  };
  for (const PackageNeeds& needs : knowledge.packages) {
    const Resolved one = resolve(column, needs.package);
    // Of several entries that a version is of the first counts: it is the closest.
    if (one.version && one.by->requirement->url.empty() && one.by->brings_needs() &&
        knowledge.package(needs.package, *one.version) == &needs) {
      judge(needs, one);
    }
  }
  const Resolved torch = resolve(column, "torch");
  const auto needs = torch.version && torch.by->brings_needs()
                         ? cudnn_of_torch(column, torch, knowledge)
                         : std::optional<PackageNeeds>();
  if (needs) {
    judge(*needs, torch);
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
  propose_torch_builds(diagnosis, column, newest, proposals);
}

void propose_torch_builds(const Diagnosis& diagnosis, const RecipeColumn& column,
                          const Version& torch, Proposals& proposals) {
  const TorchRelease* release = diagnosis.knowledge.torch_release(torch);
  if (release == nullptr) {
    return;
  }
  const std::string version = torch.public_part().text();
  // The newest CUDA version of which something is known first.
  for (auto known = release->variants.rbegin(); known != release->variants.rend(); ++known) {
    const auto local = Version::parse("0+" + known->cuda);
    if (!known->verified || !local) {
      continue;
    }
    Version target = torch.public_part();
    target.local = local->local;
    propose(diagnosis, proposals,
            torch_edits(column, target, fmt::format("torch {} has a build for it", version),
                        diagnosis.knowledge),
            fmt::format("Take the build for {}.", known->cuda));
  }
}

}  // namespace mynah::doctor
