// Frameworks that recipes pin, or let in by a range of one meaning, on each card.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/knowledge/companions.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/installation_edits.h"
#include "doctor/recipes/listed_releases.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/arm_machines.h"
#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/int8_products.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/remedies.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

// What a column brings of a framework.
struct Brought {
  std::vector<Framework> frameworks;  // the newest first; one where it is pinned
  const Asked* by = nullptr;          // null: an image brings it
  bool range = false;                 // it is not pinned: the first of these comes
  bool no_older = true;               // a range lets in none that is older than these
  std::string ended = {};             // the variant of a closed index that bounds it alone
};

// Of which a reader is told even where nothing is known of the version: most others are compiled
// where they are installed.
bool gets_a_row(std::string_view package) {
  return package == "torch" || package == "ctranslate2" || package == "onnxruntime-gpu";
}

// Whether it was said already that there is no such version, or no such build of it.
bool is_missing(const Framework& framework, const Knowledge& knowledge) {
  const auto version = Version::parse(framework.version);
  if (!version) {
    return false;
  }
  const TorchRelease* release =
      framework.package == "torch" ? knowledge.torch_release(*version) : nullptr;
  const std::string variant = version->local_text();
  return knowledge.listing_of(framework.package, *version) == Listing::Missing ||
         (release != nullptr && !cuda_of_variant(variant).empty() &&
          release->variant(variant) == nullptr);
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

// Whether a card is newer than all code of some releases: then no older release has any for it,
// either.
bool is_newer_than_all(const Brought& brought, const Target& target) {
  return std::ranges::all_of(brought.frameworks, [&](const Framework& framework) {
    return std::ranges::all_of(framework.code, [&](const DeviceCode& code) {
      return std::ranges::all_of(code.units, [&](const DeviceUnits& units) {
        return std::ranges::all_of(units.images, [&](const DeviceImage& image) {
          return image.architecture < target.capability;
        });
      });
    });
  });
}

// What all that a column may bring comes to on a card; none: some of it fares otherwise.
std::optional<Judged> judged_alike(const Brought& brought, const Card& card, const Machine& machine,
                                   const Knowledge& knowledge,
                                   const PythonEnvironment& environment) {
  std::optional<Judged> first;
  for (const Framework& framework : brought.frameworks) {
    Judged judged = judge_framework(framework, &card, machine, knowledge, &environment);
    // Of a range that begins before all that is known, what is not known is no exception: the
    // newest comes.
    if (first && !brought.no_older && judged.verdict.outcome == Outcome::Unknown) {
      continue;
    }
    if (first && (judged.verdict.outcome != first->verdict.outcome ||
                  judged.certainty != first->certainty || judged.cause != first->cause)) {
      return std::nullopt;
    }
    first = first ? std::move(first) : std::move(judged);
  }
  if (first && !brought.no_older && !computes_on_card(*first) &&
      !is_newer_than_all(brought, target_of(card, machine, knowledge))) {
    return std::nullopt;
  }
  return first;
}

// Remedies of a pin change the file that pins: what an installation changes beside it is there for
// as long as nobody makes the environment anew.
void add_recipe_remedies(const Diagnosis& diagnosis, const RecipeColumn& column,
                         const Brought& brought, Finding& finding, std::vector<Remedy> remedies,
                         Proposals& proposals) {
  for (Remedy& remedy : remedies) {
    InstallationEdits found =
        brought.by == nullptr
            ? InstallationEdits()
            : installation_edits(remedy.command, column, *brought.by, diagnosis.knowledge);
    if (!found.edits.empty()) {
      proposals.push_back({.finding = diagnosis.report.findings.size(),
                           .edits = std::move(found.edits),
                           .text = std::move(remedy.text),
                           .instead_of = finding.remedies.size(),
                           .cost = std::move(remedy.cost),
                           .more = std::move(found.more)});
      continue;
    }
    if (brought.by != nullptr && remedy.command.contains("pip install ")) {
      // Of another package, which no line here asks for.
      remedy.text = fmt::format(
          "In place of {} at {}: {}", requirement_text(*brought.by->requirement),
          place_text(brought.by->recipe->path, brought.by->requirement->line), remedy.text);
    }
    if (brought.by == nullptr && remedy.command.starts_with("pip install ")) {
      remedy.text = fmt::format("Write it behind FROM at {}: {}", column.image_where, remedy.text);
      remedy.command.insert(0, "RUN ");
    }
    finding.remedies.push_back(std::move(remedy));
  }
}

Evidence range_evidence(const Brought& brought) {
  const std::string& newest = brought.frameworks.front().version;
  const std::string& oldest = brought.frameworks.back().version;
  const Requirement& requirement = *brought.by->requirement;
  if (!brought.ended.empty()) {
    return {fmt::format("{}{} comes from the index for {} alone, which ends with {}{}",
                        requirement.name, requirement.specifier, brought.ended, newest,
                        newest == oldest ? "" : "; what is older fares alike"),
            place_text(brought.by->recipe->path, requirement.line)};
  }
  return {fmt::format("{}{} lets in {}", requirement.name, requirement.specifier,
                      newest == oldest && brought.no_older ? newest + " alone"
                      : brought.no_older
                          ? fmt::format("{} down to {}, which all fare alike", newest, oldest)
                          : fmt::format("{} and what is older, which fares alike", newest)),
          place_text(brought.by->recipe->path, requirement.line)};
}

// NVIDIA's images hold a newer libcuda, which data-centre cards may use on an older driver: note
// "compat". Those of others that name their CUDA are mostly made of them.
bool may_hold_libcuda(const RecipeColumn& column, const Framework& framework) {
  const std::string& cuda = column.image_says.cuda;
  const bool plain = column.image.starts_with("pytorch/pytorch:") &&
                     column.image.find("-devel") == std::string::npos;  // made of Ubuntu's
  const bool holds = (!cuda.empty() && !plain) || column.image.starts_with("nvcr.io/nvidia/");
  const bool enough = cuda.empty() || !framework.cuda || framework.cuda->empty() ||
                      major_version(*framework.cuda) <= major_version(cuda);
  const bool added = std::ranges::any_of(column.recipes, [](const Recipe* recipe) {
    return std::ranges::any_of(recipe->system_packages, [](const std::string& package) {
      return package.starts_with("cuda-compat");
    });
  });
  return (holds && enough) || added;
}

bool is_geforce(const Card& card, const Knowledge& knowledge) {
  const Product* const product = knowledge.card(card.name);
  return (product == nullptr ? card.name : product->name).find("GeForce") != std::string::npos;
}

// What a container has of the machine for a card.
Machine machine_inside(const RecipeColumn& column, const Framework& framework, const Card& card,
                       const Diagnosis& diagnosis) {
  Machine inside = diagnosis.facts.machine;
  if (!is_geforce(card, diagnosis.knowledge) && may_hold_libcuda(column, framework)) {
    inside.compat_libraries.emplace_back("/usr/local/cuda/compat/libcuda.so.1");
  }
  if (column.processor == "aarch64") {
    inside.processor_flags = {std::string(kArmFlag)};
  }
  return inside;
}

// What the image has beside its torch, which another torch is to bring along.
void add_image_companions(PythonEnvironment& environment, const RecipeColumn& column,
                          const Knowledge& knowledge) {
  const auto torch = Version::parse(column.image_torch);
  const TorchRelease* release = torch ? knowledge.torch_release(*torch) : nullptr;
  if (release == nullptr) {
    return;
  }
  for (const std::string_view name : image_companions(column)) {
    const std::optional<Claim>& claim = series_of_companion(name, *release);
    if (claim) {
      Package& package = environment.packages.emplace_back();
      package.name = name;
      package.version = claim->value + ".0";
    }
  }
}

}  // namespace

void judge_pinned_frameworks(Diagnosis& diagnosis, const RecipeColumn& column,
                             Proposals* proposals) {
  const Machine& machine = diagnosis.facts.machine;
  const System system = system_of(column, machine);
  PythonEnvironment environment;
  environment.system = system;
  if (column.image.starts_with("python:")) {
    environment.path = "/usr/local";  // where images of Python have it
    environment.python = column.python;
  }
  std::vector<Brought> all;
  for (const std::string_view package :
       {"torch", "ctranslate2", "onnxruntime-gpu", "llama-cpp-python", "nvidia-cudnn-cu12",
        "nvidia-cudnn-cu13"}) {
    Brought brought = brought_by(column, package, system, diagnosis.knowledge);
    if (brought.frameworks.empty()) {
      continue;
    }
    const Framework& newest = brought.frameworks.front();
    environment.frameworks.push_back(newest);
    Package& as_installed = environment.packages.emplace_back();
    as_installed.name = package;
    as_installed.version = newest.version;
    if (!package.starts_with("nvidia")) {
      all.push_back(std::move(brought));
    }
  }
  add_image_companions(environment, column, diagnosis.knowledge);
  PythonEnvironment plain = environment;  // whose commands become edits
  plain.path.clear();
  for (const Brought& brought : all) {
    const Framework& framework = brought.frameworks.front();
    for (const Card& card : machine.cards) {
      const Machine inside = machine_inside(column, framework, card, diagnosis);
      const bool arm = is_unread_on_arm(framework, card, inside, diagnosis.knowledge);
      auto judged = arm ? judge_framework(framework, &card, inside, diagnosis.knowledge)
                        : judged_alike(brought, card, inside, diagnosis.knowledge, environment);
      if (!judged) {
        continue;
      }
      doubt_failures(column, brought.by, *judged);
      // An extra for the processor is meant to be one, and that a version is missing is said of it
      // already.
      const bool meant = !column.group.empty() && judged->cause == Cause::ProcessorBuild;
      // So is one that is pinned to be, where nothing else speaks of a card.
      const bool pinned = judged->cause == Cause::ProcessorBuild && framework.name == "torch" &&
                          is_for_processor(column, diagnosis.knowledge) && !speaks_of_card(column);
      for (Finding& finding : judged->findings) {
        finding.level = pinned ? Level::Note : finding.level;
      }
      const bool said =
          judged->cause == Cause::CodeUnknown && is_missing(framework, diagnosis.knowledge);
      if (meant || said) {
        judged->findings.clear();
      }
      if (arm) {
        // The variant was told by what is known of x86-64.
        judged->verdict.version = framework.version.substr(0, framework.version.find('+'));
      }
      std::vector<Remedy> remedies;
      auto int8 = arm ? std::nullopt
                      : int8_finding(framework, plain, card, *judged, inside, diagnosis.knowledge);
      if (proposals != nullptr && !arm && !judged->findings.empty() &&
          judged->findings.front().level != Level::Note) {
        remedies = remedies_for(framework, *judged, card, inside, environment, diagnosis.knowledge);
      }
      judged->verdict.environment = column.name;
      lower_by_libraries(diagnosis, column, framework.package, judged->verdict);
      diagnosis.report.verdicts.push_back(std::move(judged->verdict));
      for (Finding& finding : judged->findings) {
        finding.subject =
            arm ? fmt::format("{} {} in {}", framework.name, judged->verdict.version, column.name)
                : fmt::format("{} in {}", framework_title(framework), column.name);
        if (brought.range) {
          finding.evidence.insert(finding.evidence.begin(), range_evidence(brought));
        }
        if (proposals != nullptr) {
          add_recipe_remedies(diagnosis, column, brought, finding, std::exchange(remedies, {}),
                              *proposals);
        }
        diagnosis.report.findings.push_back(std::move(finding));
      }
      if (int8) {
        int8->subject = fmt::format("{} in {}", framework_title(framework), column.name);
        if (brought.by != nullptr) {
          int8->evidence.insert(int8->evidence.begin(), evidence_of(*brought.by));
        }
        std::vector<Remedy> mends = std::exchange(int8->remedies, {});
        if (proposals != nullptr) {
          add_recipe_remedies(diagnosis, column, brought, *int8, std::move(mends), *proposals);
        }
        diagnosis.report.findings.push_back(*std::move(int8));
      }
    }
  }
}

}  // namespace mynah::doctor
