#include "doctor/recipes/recipe_trial.h"

#include <algorithm>
#include <set>

#include "doctor/recipes/recipe_edits.h"
#include "doctor/recipes/recipe_rule_parts.h"

namespace mynah::doctor {

namespace {

// Requirements that are judged in trials of one report: beyond that an answer would take too long.
constexpr size_t kMostSpent = 100'000;

bool holds_edit(const RecipeColumn& column, std::span<const AlignmentEdit> edits) {
  const auto edited = [&](const Recipe* recipe) {
    return std::ranges::any_of(
        edits, [&](const AlignmentEdit& edit) { return edit.file == recipe->path; });
  };
  return std::ranges::any_of(column.recipes, edited) ||
         std::ranges::any_of(column.constraints, edited) || edited(column.root);
}

}  // namespace

std::string trouble_of(const Finding& finding) {
  // "torch 2.5.1+cu124 in asr (compose.yml)" and "torch==2.5.1+cu124 in asr/requirements.txt" are
  // about torch; a column's own name says nothing.
  const size_t in = finding.subject.find(" in ");
  const std::string about =
      in == std::string::npos ? finding.text
                              : finding.subject.substr(0, finding.subject.find_first_of(" =<>~!"));
  return finding.rule + "\n" + finding.card + "\n" + about;
}

bool RecipeTrial::mends(const Finding& finding) const {
  return !left.contains(trouble_of(finding));
}

RecipeTrials::Troubles RecipeTrials::troubles(const Facts& facts,
                                              const RecipeColumn& column) const {
  Diagnosis diagnosis{.facts = facts, .knowledge = knowledge_, .report = {}};
  Proposals none;
  judge_requirements(diagnosis, column, none);
  judge_steps(diagnosis, column, none);
  judge_indexes(diagnosis, column, none);
  judge_versions(diagnosis, column);
  judge_pythons(diagnosis, column, none);
  judge_image_system(diagnosis, column, none);
  judge_numpy(diagnosis, column);
  judge_image_libraries(diagnosis, column, none);
  judge_cudnn(diagnosis, column, none);
  judge_machine_libraries(diagnosis, column, none);
  judge_pinned_frameworks(diagnosis, column, nullptr);
  Troubles found;
  for (const Finding& finding : diagnosis.report.findings) {
    if (finding.level < Level::Unknown) {
      continue;
    }
    const auto [trouble, is_new] =
        found.emplace(trouble_of(finding), std::pair(finding.level, finding.text));
    if (!is_new && trouble->second.first < finding.level) {
      trouble->second = {finding.level, finding.text};
    }
  }
  return found;
}

std::optional<RecipeTrial> RecipeTrials::run(std::span<const RecipeColumn> columns,
                                             std::span<const AlignmentEdit> edits) {
  Facts edited;
  edited.machine = facts_.machine;
  std::set<const Recipe*> taken;
  std::set<std::string> names;
  for (const RecipeColumn& column : columns) {
    if (!holds_edit(column, edits)) {
      continue;
    }
    names.insert(column.name);
    taken.insert(column.root);
    taken.insert(column.recipes.begin(), column.recipes.end());
    taken.insert(column.constraints.begin(), column.constraints.end());
  }
  for (const Recipe& recipe : facts_.recipes) {
    spent_ += taken.contains(&recipe) ? recipe.requirements.size() + 1 : 0;
  }
  if (spent_ > kMostSpent) {
    return std::nullopt;
  }
  for (const Recipe& recipe : facts_.recipes) {
    if (taken.contains(&recipe)) {
      edited.recipes.push_back(recipe);
    }
  }
  apply_edits(edited.recipes, edits);
  RecipeTrial trial;
  for (const RecipeColumn& column : recipe_columns(edited, knowledge_)) {
    const auto was = std::ranges::find(columns, column.name, &RecipeColumn::name);
    if (was == columns.end() || !names.contains(column.name)) {
      continue;
    }
    const auto [before, is_new] = before_.try_emplace(column.name);
    if (is_new) {
      before->second = troubles(facts_, *was);
    }
    for (const auto& [trouble, said] : troubles(edited, column)) {
      const auto found = before->second.find(trouble);
      if (found == before->second.end() || found->second.first < said.first) {
        trial.brings.push_back(column.name + ": " + said.second);
        trial.fails |= said.first == Level::Fail;
      }
      Level& level = trial.left.emplace(trouble, said.first).first->second;
      level = std::max(level, said.first);
    }
  }
  return trial;
}

}  // namespace mynah::doctor
