// Whether what a recipe compiles holds code for the cards that are there.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

namespace {

// The code that a build makes, as a file would hold it. None: a word may stand for any.
std::optional<DeviceCode> code_of(const DeviceBuild& build) {
  DeviceUnits units{.count = 1, .images = {}};
  for (const std::string& written : build.architectures) {
    const size_t digits = std::min(written.find_first_not_of("0123456789"), written.size());
    const size_t dash = std::min(written.find('-'), written.size());
    const int architecture = capability_number(
        digits < 2 ? "" : fmt::format("{}.{}", written.substr(0, digits - 1), written[digits - 1]));
    if (architecture == 0) {
      return std::nullopt;
    }
    const std::string ending = written.substr(dash);
    DeviceImage image;
    image.architecture = architecture;
    image.variant = written.substr(digits, dash - digits);
    if (ending != "-virtual") {
      units.images.push_back(image);
    }
    if (ending != "-real") {
      image.ptx = true;
      units.images.push_back(std::move(image));
    }
  }
  return DeviceCode{.file = {}, .units = {std::move(units)}};
}

void judge_build(Diagnosis& diagnosis, const RecipeColumn& column, const Recipe& recipe,
                 const DeviceBuild& build) {
  const Machine& machine = diagnosis.facts.machine;
  const auto code = build.doubtful ? std::nullopt : code_of(build);
  std::set<int> said;
  for (const Card& card : code ? machine.cards : std::vector<Card>()) {
    const Target target = target_of(card, machine, diagnosis.knowledge);
    if (card.vendor != "10de" || target.capability == 0 || !said.insert(target.capability).second) {
      continue;
    }
    Coverage coverage;
    cover(*code, target, diagnosis.knowledge, coverage);
    if (coverage.none == 0 && !(coverage.special > 0 && coverage.special_here == 0)) {
      continue;
    }
    const std::string capability = capability_text(target.capability);
    const Architecture* architecture = diagnosis.knowledge.architecture(capability);
    Finding& finding = add_finding(
        diagnosis, "compiled for other cards", Level::Warning, Certainty::Likely, column.name,
        fmt::format("The command at line {} compiles only {}; a card of compute capability {} runs "
                    "none of that, and what it makes stops at its first kernel.",
                    build.line, code_text(*code), capability));
    finding.card = card.name;
    finding.error = "no kernel image is available for execution on the device";
    finding.evidence = {{build.command, place_text(recipe.path, build.line)}};
    std::string text = fmt::format("Name {} among the architectures at {}", target.capability,
                                   place_text(recipe.path, build.line));
    if (architecture != nullptr) {
      text += fmt::format("; compilers know it from CUDA {} on", architecture->first_toolkit.value);
    }
    finding.remedies.push_back({.command = {}, .text = std::move(text), .cost = {}});
  }
}

}  // namespace

void judge_compiled_code(Diagnosis& diagnosis, const RecipeColumn& column) {
  for (const Recipe* recipe : column.recipes) {
    for (const DeviceBuild& build : recipe->device_builds) {
      judge_build(diagnosis, column, *recipe, build);
    }
  }
}

}  // namespace mynah::doctor
