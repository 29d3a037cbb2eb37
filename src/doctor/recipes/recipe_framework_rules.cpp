// Frameworks that recipes pin, or let in by a range of one meaning, on each card.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/knowledge/companions.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/brought_frameworks.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/framework_remedies.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/arm_machines.h"
#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/int8_products.h"
#include "doctor/verdicts/remedies.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

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

// What the newest release that is known comes to, where others may come. None: it does not fail by
// the card or the driver.
std::optional<Judged> judged_newest(const Brought& brought, const Card& card,
                                    const Machine& machine, const Knowledge& knowledge,
                                    const PythonEnvironment& environment) {
  static constexpr std::array<Cause, 8> kCauses = {
      Cause::DriverTooOld, Cause::CardDropped, Cause::NoCode,     Cause::PtxTooNew,
      Cause::Packed,       Cause::CudnnCode,   Cause::CublasCode, Cause::CudaTooOld};
  Judged judged =
      judge_framework(brought.frameworks.front(), &card, machine, knowledge, &environment);
  const bool old = judged.cause == Cause::CudaTooOld;  // which is unknown, and worth saying
  if (computes_on_card(judged) || (judged.verdict.outcome == Outcome::Unknown && !old) ||
      std::ranges::find(kCauses, judged.cause) == kCauses.end()) {
    return std::nullopt;
  }
  return judged;
}

// Another release may come than the one that was judged: its failure is no more than likely.
void doubt_newest(Judged& judged, const Brought& brought) {
  if (judged.verdict.outcome == Outcome::Unknown) {
    return;
  }
  judged.verdict.outcome = Outcome::Unknown;
  judged.verdict.reason =
      brought.asks.empty()
          ? "nothing pins it: the newest that is known would fail"
          : fmt::format("{} asks for one that would fail: another may come", brought.through);
  for (Finding& finding : judged.findings) {
    finding.level = finding.level == Level::Fail ? Level::Unknown : finding.level;
    finding.certainty = Certainty::Likely;
  }
}

// What works is not there in the end where a later command puts another in its place, which is not
// judged.
void lower_by_later_commands(const RecipeColumn& column, std::string_view package,
                             FrameworkVerdict& verdict, const Knowledge& knowledge) {
  const auto other = verdict.outcome == Outcome::Works && column.is_image()
                         ? displaced(column, package, knowledge)
                         : std::nullopt;
  if (other) {
    verdict.outcome = Outcome::Unknown;
    verdict.reason = fmt::format("{} puts {}{} in its place",
                                 requirement_text(*other->by->requirement), package, other->wants);
  }
}

Evidence range_evidence(const Brought& brought) {
  const std::string& newest = brought.frameworks.front().version;
  if (!brought.asks.empty()) {
    return {fmt::format("{} asks for {}{}", brought.through, brought.frameworks.front().package,
                        brought.asks),
            place_text(brought.by->recipe->path, brought.by->requirement->line)};
  }
  if (!brought.through.empty()) {
    return {fmt::format("{} asks for {}, nothing pins it, and {} is the newest of which something "
                        "is known",
                        brought.through, brought.frameworks.front().package, newest),
            place_text(brought.by->recipe->path, brought.by->requirement->line)};
  }
  if (brought.open) {
    return {fmt::format("{}{} takes the newest that there is on the day, and {} is the newest of "
                        "which something is known",
                        brought.by->requirement->name, brought.by->requirement->specifier, newest),
            place_text(brought.by->recipe->path, brought.by->requirement->line)};
  }
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

void add_framework(PythonEnvironment& environment, std::string_view package,
                   const Brought& brought) {
  environment.frameworks.push_back(brought.frameworks.front());
  Package& as_installed = environment.packages.emplace_back();
  as_installed.name = package;
  as_installed.version = brought.frameworks.front().version;
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

  struct Brings {
    Brought known;
    Brought newest;  // of a range of which not all fares alike, or not all is known
  };

  std::vector<Brings> all;
  for (const std::string_view package :
       {"torch", "ctranslate2", "onnxruntime-gpu", "llama-cpp-python", "nvidia-cudnn-cu12",
        "nvidia-cudnn-cu13"}) {
    Brings brings{.known = brought_by(column, package, system, diagnosis.knowledge),
                  .newest = newest_of_range(column, package, system, diagnosis.knowledge)};
    if (!brings.known.frameworks.empty()) {
      add_framework(environment, package, brings.known);
    }
    if (!package.starts_with("nvidia")) {
      all.push_back(std::move(brings));
    }
  }
  add_image_companions(environment, column, diagnosis.knowledge);
  PythonEnvironment plain = environment;  // whose commands become edits
  plain.path.clear();
  const auto judge = [&](const Brought& brought, const Card& card) -> std::optional<Judged> {
    if (brought.frameworks.empty()) {
      return std::nullopt;
    }
    const Framework& framework = brought.frameworks.front();
    const Machine inside = machine_inside(column, framework, card, diagnosis);
    if (is_unread_on_arm(framework, card, inside, diagnosis.knowledge)) {
      return brought.open
                 ? std::nullopt
                 : std::optional(judge_framework(framework, &card, inside, diagnosis.knowledge));
    }
    return (brought.open ? judged_newest : judged_alike)(brought, card, inside, diagnosis.knowledge,
                                                         environment);
  };
  for (const Brings& brings : all) {
    for (const Card& card : machine.cards) {
      auto judged = judge(brings.known, card);
      const Brought& brought = judged ? brings.known : brings.newest;
      judged = judged ? std::move(judged) : judge(brought, card);
      if (!judged) {
        continue;
      }
      const Framework& framework = brought.frameworks.front();
      const Machine inside = machine_inside(column, framework, card, diagnosis);
      const bool arm = is_unread_on_arm(framework, card, inside, diagnosis.knowledge);
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
      if (brought.open && !brought.exact) {
        doubt_newest(*judged, brought);
      }
      judged->verdict.environment = column.name;
      lower_by_libraries(diagnosis, column, framework.package, judged->verdict);
      lower_by_machine_libraries(diagnosis, column, framework.package, judged->verdict);
      lower_by_hidden_cards(diagnosis, column, judged->verdict);
      lower_by_later_commands(column, framework.package, judged->verdict, diagnosis.knowledge);
      diagnosis.report.verdicts.push_back(std::move(judged->verdict));
      for (Finding& finding : judged->findings) {
        const std::string title = framework_title(framework);
        finding.subject =
            fmt::format("{} in {}", arm ? title.substr(0, title.find('+')) : title, column.name);
        if (brought.range) {
          finding.evidence.insert(finding.evidence.begin(), range_evidence(brought));
        }
        if (std::string read = brought.by == nullptr ? "" : passed_over_tables(*brought.by->recipe);
            !read.empty()) {
          finding.evidence.push_back({std::move(read), brought.by->recipe->path});
        }
        if (proposals != nullptr) {
          add_extra_remedy(column, finding, remedies);
          add_image_remedy(diagnosis, column, finding, remedies, *proposals);
          add_recipe_remedies(diagnosis, column, brought, finding, std::exchange(remedies, {}),
                              *proposals);
          const auto works = [&](const Framework& other) {
            return computes_on_card(judge_framework(
                other, &card, machine_inside(column, other, card, diagnosis), diagnosis.knowledge));
          };
          propose_default_torch(diagnosis, column, brought, works, *proposals);
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
