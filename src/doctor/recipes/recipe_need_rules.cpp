// What pinned packages ask of each other, and builds of PyTorch that never were.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/torch_neighbours.h"

namespace mynah::doctor {

namespace {

// Of a lock: what made it saw to it. A requirements file that was compiled is one of pins to pip,
// which a later edit may have torn apart.
bool is_locked(const Resolved& resolved) {
  return resolved.by->requirement->locked && resolved.by->recipe->kind == "lock";
}

// Words for a package that do not meet what another asks for.
struct Unmet {
  Requirement need;
  Resolved other;
  bool certain = false;  // the condition of the need holds, and the words do
  // What it asks for of the same package under other conditions, of which nobody knows which holds.
  std::vector<std::string> otherwise = {};
};

// "numpy>=2.0.2,<2.1 or numpy>=2.1,<2.3".
std::string needs_text(const Unmet& unmet) {
  std::string text = unmet.need.name + unmet.need.specifier;
  for (const std::string& specifier : unmet.otherwise) {
    text += fmt::format(" or {}{}", unmet.need.name, specifier);
  }
  return text;
}

// Whether no version of a package that a column lets in is one that another asks for.
bool is_refused(const RecipeColumn& column, const Resolved& one, const Requirement& need,
                const Resolved& other, const SpecifierSet& wanted, const Knowledge& knowledge) {
  if (other.version) {
    return !wanted.contains(*other.version);
  }
  // Commands of an image follow each other, and each changes what is there.
  if (other.by == nullptr || !other.several.empty() || other.range.clauses.empty() ||
      !std::ranges::all_of(column.packages.at(need.name), [&](const Asked& asked) {
        return refused_together(column, *one.by, asked, knowledge);
      })) {
    return false;
  }
  if (const auto exactly = wanted.pinned()) {
    return !other.range.contains(*exactly);
  }
  const PackageReleases* const known = knowledge.releases_of(need.name);
  if (known == nullptr || !known->verified) {
    return false;
  }
  SpecifierSet both = other.range;
  both.clauses.insert(both.clauses.end(), wanted.clauses.begin(), wanted.clauses.end());
  const ListedReleases listed = listed_releases(*known, both);
  return listed.versions.empty() && listed.no_newer && listed.no_older;
}

std::optional<Unmet> unmet(const Diagnosis& diagnosis, const RecipeColumn& column,
                           const Resolved& one, Requirement need) {
  Resolved other = resolve(column, need.name);
  const auto wanted = SpecifierSet::parse(need.specifier);
  if (!wanted || !is_refused(column, one, need, other, *wanted, diagnosis.knowledge) ||
      other.by->requirement->overrides || (is_locked(one) && is_locked(other))) {
    return std::nullopt;
  }
  // A range is of all that is said, a pin of one line.
  const std::vector<Asked>& all = column.packages.at(need.name);
  const bool plain = other.version
                         ? other.by->requirement->url.empty()
                         : std::ranges::all_of(all, [](const Asked& asked) {
                             return asked.requirement->url.empty() && !asked.requirement->overrides;
                           });
  if (!plain) {
    return std::nullopt;
  }
  const bool holds_all = other.version || std::ranges::all_of(all, [](const Asked& asked) {
                           return asked.holds == Truth::Yes;
                         });
  Truth holds = Truth::Yes;
  if (!need.marker.empty()) {
    const System system = system_of(column, diagnosis.facts.machine);
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
  const bool certain = other.sure && holds_all && holds == Truth::Yes;
  return Unmet{.need = std::move(need), .other = std::move(other), .certain = certain};
}

// A need of a package that is there already under another condition goes with that one.
void add_unmet(std::vector<Unmet>& all, Unmet unmet) {
  const auto same = std::ranges::find_if(
      all, [&](const Unmet& other) { return other.need.name == unmet.need.name; });
  if (same == all.end() || same->certain || unmet.certain) {
    all.push_back(std::move(unmet));
  } else {
    same->otherwise.push_back(unmet.need.specifier);
  }
}

// Releases of a package that are known, the newest first: those that are listed, or else those of
// which it was read what they ask for.
std::vector<Version> known_releases(const std::string& package, const Knowledge& knowledge) {
  if (const PackageReleases* const listed = knowledge.releases_of(package)) {
    return listed->releases;
  }
  std::vector<Version> releases;
  for (const PackageNeeds& needs : knowledge.packages) {
    if (needs.package == package) {
      releases.push_back(needs.versions.from);
    }
  }
  std::ranges::sort(releases, std::ranges::greater());
  return releases;
}

// Whether what another release of a package asks for is what stands there.
bool is_met(const AskedOf& asked, const Resolved& other) {
  const auto exactly = asked.range.pinned();
  return other.version ? asked.range.contains(*other.version)
                       : exactly && other.range.contains(*exactly);
}

// The newest other release of a package whose needs are known and that takes all that stands there
// for what this one refuses: it is proposed in place of this one.
void propose_other_release(const Diagnosis& diagnosis, const RecipeColumn& column,
                           const Resolved& one, const std::vector<Unmet>& all,
                           Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const std::string& package = one.by->requirement->name;
  // A torch takes its companions along, which is another remedy.
  const bool pinned =
      std::ranges::any_of(all, [](const Unmet& each) { return each.other.version.has_value(); });
  if (pinned && package == "torch") {
    return;
  }
  for (const Version& release : known_releases(package, knowledge)) {
    const bool takes_all = std::ranges::all_of(all, [&](const Unmet& each) {
      const auto asked = asked_of(package, release, each.need.name, knowledge);
      return asked && is_met(*asked, each.other);
    });
    if (takes_all && takes_python(column, package, release, knowledge)) {
      const Unmet& first = all.front();
      const auto asked = asked_of(package, release, first.need.name, knowledge);
      propose(diagnosis, proposals,
              {pin_edit(column, *one.by, "==" + release.text(),
                        fmt::format("it asks for {}{}", first.need.name, asked->range.text()))});
      return;
    }
  }
}

// What a package asks for in place of what stands there: of a torch with all that goes with it.
void add_wanted(const RecipeColumn& column, const Unmet& unmet, const std::string& why,
                const Knowledge& knowledge, std::vector<AlignmentEdit>& edits) {
  const auto set = SpecifierSet::parse(unmet.need.specifier);
  auto exactly = set ? set->pinned() : std::nullopt;
  if (unmet.need.name != "torch" || !exactly || !unmet.other.version) {
    add_edit(edits, pin_edit(column, *unmet.other.by, unmet.need.specifier, why));
    return;
  }
  exactly->local = unmet.other.version->local;
  for (AlignmentEdit& edit :
       torch_edits(column, with_variant(*exactly, knowledge), why, knowledge)) {
    add_edit(edits, std::move(edit));
  }
}

// All that one package asks for and does not get is one finding: it is mended as one.
void judge_package(Diagnosis& diagnosis, const RecipeColumn& column, const PackageNeeds& needs,
                   const Resolved& one, const std::vector<Unmet>& all, Proposals& proposals) {
  const bool together = std::ranges::any_of(all, [&](const Unmet& each) {
    return refused_together(column, *one.by, *each.other.by, diagnosis.knowledge);
  });
  const bool certain =
      together && needs.verified && one.sure && std::ranges::any_of(all, [&](const Unmet& each) {
        return each.certain &&
               refused_together(column, *one.by, *each.other.by, diagnosis.knowledge);
      });
  const std::string title = fmt::format("{} {}", needs.package, one.version->text());
  std::vector<std::string> words;
  std::vector<AlignmentEdit> edits;
  std::vector<Evidence> pins;
  for (const Unmet& each : all) {
    words.push_back(each.other.version ? fmt::format("{}, and {} is pinned", needs_text(each),
                                                     each.other.version->text())
                                       : fmt::format("{}, and {}{} is asked for", needs_text(each),
                                                     each.need.name, each.other.range.text()));
    if (each.otherwise.empty()) {
      add_wanted(column, each, fmt::format("{} asks for it", title), diagnosis.knowledge, edits);
    } else {
      edits.push_back(pin_edit(column, *each.other.by, "",
                               fmt::format("{} asks for the one that it wants", title)));
    }
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
  const size_t before = proposals.size();
  propose_other_release(diagnosis, column, one, all, proposals);
  const auto torch = std::ranges::find_if(
      all, [](const Unmet& each) { return each.need.name == "torch" && each.other.version; });
  if (torch != all.end() && proposals.size() == before) {
    std::vector<AlignmentEdit> moves;
    move_neighbours(column, *torch->other.version, diagnosis.knowledge, moves);
    propose(diagnosis, proposals, std::move(moves),
            "Take what goes with the torch that is pinned.");
  }
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

// Whether another rule says what a package asks for, of torchaudio and torchvision beside a pinned
// torch (judge_torch_companions).
bool is_said_of_companions(const RecipeColumn& column, std::string_view package,
                           const Requirement& need) {
  return (package == "torchaudio" || package == "torchvision") && need.name == "torch" &&
         resolve(column, "torch").version;
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

// Most of what a package asks for is of others: their ranges need not be read to know it.
std::string name_asked_for(std::string_view requirement) {
  return normal_name(requirement.substr(0, requirement.find_first_of(" [<>=!~;@(")));
}

}  // namespace

std::optional<AskedOf> asked_of(std::string_view package, const Version& release,
                                std::string_view other, const Knowledge& knowledge) {
  const PackageNeeds* const needs = knowledge.package(package, release.public_part());
  if (needs == nullptr) {
    return std::nullopt;
  }
  for (const std::string& text : needs->requires_) {
    if (name_asked_for(text) != other) {
      continue;
    }
    const auto need = parse_requirement(text);
    if (!need) {
      continue;
    }
    if (auto range = SpecifierSet::parse(need->specifier)) {
      return AskedOf{.range = *std::move(range), .needs = needs};
    }
  }
  return std::nullopt;
}

void judge_needs(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  const Knowledge& knowledge = diagnosis.knowledge;
  const auto judge = [&](const PackageNeeds& needs, const Resolved& one) {
    std::vector<Unmet> all;
    for (const std::string& text : needs.requires_) {
      auto need = parse_requirement(text);
      auto found = need && !is_said_of_companions(column, needs.package, *need)
                       ? unmet(diagnosis, column, one, *std::move(need))
                       : std::optional<Unmet>();
      if (found) {
        add_unmet(all, *std::move(found));
      }
    }
    if (!all.empty()) {
      judge_package(diagnosis, column, needs, one, all, proposals);
    }
  };
  // What torch asks for was read of the Python index's wheels: others for CUDA are much alike, and
  // those for the processor or other makers' cards are not.
  const auto judge_torch = [&](PackageNeeds needs, const Resolved& one) {
    const auto version = torch_of(column, knowledge);
    const TorchRelease* const release = version ? knowledge.torch_release(*version) : nullptr;
    const std::string variant = version ? version->local_text() : "";
    if (variant.empty() || !cuda_of_variant(variant).empty()) {
      needs.verified &= release != nullptr && release->default_variant.verified &&
                        release->default_variant.value == variant;
      judge(needs, one);
    }
  };
  for (const PackageNeeds& needs : knowledge.packages) {
    const Resolved one = resolve(column, needs.package);
    // Of several entries that a version is of the first counts: it is the closest.
    if (one.version && one.by->requirement->url.empty() && one.by->brings_needs() &&
        knowledge.package(needs.package, *one.version) == &needs) {
      if (needs.package == "torch") {
        judge_torch(needs, one);
      } else {
        judge(needs, one);
      }
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
