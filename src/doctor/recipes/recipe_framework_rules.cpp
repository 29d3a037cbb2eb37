// Frameworks that recipes pin, on each card.
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/package_indexes.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/remedies.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

// Of which a reader is told even where nothing is known of the version: most others are compiled
// where they are installed.
bool gets_a_row(std::string_view package) {
  return package == "torch" || package == "ctranslate2" || package == "onnxruntime-gpu";
}

bool is_missing(const Framework& framework, const Knowledge& knowledge) {
  const auto version = Version::parse(framework.version);
  return version && knowledge.listing_of(framework.package, *version) == Listing::Missing;
}

}  // namespace

void judge_pinned_frameworks(Diagnosis& diagnosis, const RecipeColumn& column, bool remedies) {
  const Machine& machine = diagnosis.facts.machine;
  const System system = column.image.empty() ? machine.system : System::Linux;
  PythonEnvironment environment;
  environment.system = system;
  std::vector<Framework> pinned;
  for (const std::string_view package :
       {"torch", "ctranslate2", "onnxruntime-gpu", "llama-cpp-python", "nvidia-cudnn-cu12",
        "nvidia-cudnn-cu13"}) {
    const Resolved resolved = resolve(column, package);
    const auto version =
        package == "torch" ? torch_of(column, diagnosis.knowledge) : resolved.version;
    const bool elsewhere = resolved.by != nullptr && resolved.by->requirement->url == "conda";
    if (!version || elsewhere) {
      continue;
    }
    auto framework = known_framework(package, *version, system, diagnosis.knowledge);
    if (!framework && column.asks_for(package) && gets_a_row(package)) {
      framework = unknown_framework(package, *version);
    }
    if (framework) {
      const bool own_builds =
          resolved.by != nullptr &&
          may_have_own_builds(column, *resolved.by->requirement, diagnosis.knowledge);
      if (!resolved.sure || own_builds || displaced(column, package, diagnosis.knowledge)) {
        framework->unverified.insert(framework->unverified.end(),
                                     {"code", "cudnn", "libraries", "ptx"});
      }
      environment.frameworks.push_back(*framework);
      Package& as_installed = environment.packages.emplace_back();
      as_installed.name = package;
      as_installed.version = version->text();
      if (!package.starts_with("nvidia")) {
        pinned.push_back(std::move(*framework));
      }
    }
  }
  for (const Framework& framework : pinned) {
    for (const Card& card : machine.cards) {
      Judged judged = judge_framework(framework, &card, machine, diagnosis.knowledge, &environment);
      doubt_failures(column, resolve(column, framework.package).by, judged);
      if (remedies && !judged.findings.empty() && judged.findings.front().level != Level::Note) {
        judged.findings.front().remedies =
            remedies_for(framework, judged, card, machine, environment, diagnosis.knowledge);
      }
      // An extra for the processor is meant to be one, and that a version is missing is said of it
      // already.
      const bool meant = !column.group.empty() && judged.cause == Cause::ProcessorBuild;
      const bool said =
          judged.cause == Cause::CodeUnknown && is_missing(framework, diagnosis.knowledge);
      if (meant || said) {
        judged.findings.clear();
      }
      judged.verdict.environment = column.name;
      diagnosis.report.verdicts.push_back(std::move(judged.verdict));
      for (Finding& finding : judged.findings) {
        finding.subject = fmt::format("{} in {}", framework_title(framework), column.name);
        diagnosis.report.findings.push_back(std::move(finding));
      }
    }
  }
}

}  // namespace mynah::doctor
