// Rules about commands of an image that follow each other.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/column_steps.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

// A later command puts another version in the place of a pin. Where it is not told to, whoever
// reads the first line is mistaken about what the image has.
void judge_replaced(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  constexpr size_t kMostFindings = 20;
  for (size_t i = 0; i < std::min(column.replaced.size(), kMostFindings); ++i) {
    const auto& [first, last, meant] = column.replaced[i];
    const std::string& package = last.requirement->name;
    Finding& finding = add_finding(
        diagnosis, "requirements contradict", meant ? Level::Note : Level::Warning,
        Certainty::Certain, fmt::format("{} in {}", package, column.name),
        last.requirement->specifier.empty()
            ? fmt::format("{} is asked for as {}, and a later command puts the newest in its "
                          "place.",
                          package, first.requirement->specifier)
            : fmt::format("{} is asked for as {} and as {}: what is installed last replaces the "
                          "other.",
                          package, first.requirement->specifier, last.requirement->specifier));
    finding.evidence = {evidence_of(first), evidence_of(last)};
    if (last.requirement->specifier.empty()) {
      propose(diagnosis, proposals,
              {pin_edit(column, last, first.requirement->specifier, "both are then the same")});
    } else if (!meant) {
      propose(diagnosis, proposals,
              {pin_edit(column, first, last.requirement->specifier, "it comes in the end")});
    }
  }
}

void judge_displaced(Diagnosis& diagnosis, const RecipeColumn& column, std::string_view package) {
  const auto found = displaced(column, package, diagnosis.knowledge);
  if (!found) {
    return;
  }
  const Resolved there = resolve(column, package);
  const std::string version =
      there.version ? there.version->text() : column.image_torch + " of the image";
  Finding& finding = add_finding(
      diagnosis, "requirements contradict", Level::Warning, Certainty::Likely,
      fmt::format("{} in {}", package, column.name),
      fmt::format("{} asks for {}{}, and is installed after {} {}: it puts another in its place.",
                  requirement_text(*found->by->requirement), package, found->wants, package,
                  version));
  if (there.by != nullptr) {
    finding.evidence.push_back(evidence_of(*there.by));
  }
  finding.evidence.push_back(evidence_of(*found->by));
}

}  // namespace

std::optional<Displaced> displaced(const RecipeColumn& column, std::string_view package,
                                   const Knowledge& knowledge) {
  const Resolved there = resolve(column, package);
  const bool of_image = package == "torch" && !column.image_torch.empty();
  const auto version = of_image ? torch_of(column, knowledge) : there.version;
  if (!version || (there.by == nullptr && !of_image)) {
    return std::nullopt;
  }
  // Steps lie in one list; what the image brings was there before all.
  const auto is_later = [&](const Asked* asked) {
    return asked != nullptr && asked->how != nullptr && asked->brings_needs() &&
           (of_image || (there.by->how != nullptr && std::less()(there.by->how, asked->how)));
  };
  for (const PackageNeeds& needs : knowledge.packages) {
    const Resolved other = resolve(column, needs.package);
    if (!other.version || !is_later(other.by) ||
        knowledge.package(needs.package, *other.version) != &needs) {
      continue;
    }
    for (const std::string& text : needs.requires_) {
      const auto requirement = parse_requirement(text);
      const auto range = requirement && requirement->name == package &&
                                 is_wanted(*requirement, *other.by->requirement)
                             ? SpecifierSet::parse(requirement->specifier)
                             : Result<SpecifierSet>(SpecifierSet());
      if (range && !range->contains(*version)) {
        return Displaced{.by = other.by, .wants = range->text()};
      }
    }
  }
  return std::nullopt;
}

void doubt_failures(const RecipeColumn& column, const Asked* asked, Judged& judged) {
  const Recipe* const image = column.dockerfile();
  const bool fails = judged.verdict.outcome == Outcome::FailsAtLoad ||
                     judged.verdict.outcome == Outcome::FailsAtFirstKernel ||
                     judged.verdict.outcome == Outcome::FailsAtLstm;
  if (!fails || image == nullptr) {
    return;
  }
  const std::vector<InstallStep>& steps = image->steps;
  // A script of which not all could be followed is as little known as a file that was changed.
  const auto is_known = [&](const IncludeLine& line) {
    const auto file = std::ranges::find(column.recipes, line.path, &Recipe::path);
    return !line.edited &&
           (file == column.recipes.end() || (*file)->kind != "script" || (*file)->doubts.empty());
  };
  const auto edited = std::ranges::find_if(image->include_lines, [&](const IncludeLine& line) {
    if (is_known(line) || line.step == 0 || line.step > steps.size()) {
      return false;
    }
    const InstallStep* const step = &steps[line.step - 1];
    const bool later = asked == nullptr || asked->how == nullptr || std::less()(asked->how, step);
    return later && !step->aside && step->environment == column.environment;
  });
  if (edited == image->include_lines.end()) {
    return;
  }
  judged.verdict.outcome = Outcome::Unknown;
  judged.verdict.reason =
      "a later line installs from a file that the image changes, or by a script that is not known "
      "as a whole: it may put another in its place";
  for (Finding& finding : judged.findings) {
    if (finding.level == Level::Fail) {
      finding.level = Level::Unknown;
      finding.certainty = Certainty::Likely;
    }
    finding.evidence.push_back({judged.verdict.reason, place_text(image->path, edited->line)});
  }
}

void judge_steps(Diagnosis& diagnosis, const RecipeColumn& column, Proposals& proposals) {
  judge_replaced(diagnosis, column, proposals);
  for (const std::string_view package : {"torch", "ctranslate2", "onnxruntime-gpu"}) {
    judge_displaced(diagnosis, column, package);
  }
}

}  // namespace mynah::doctor
