// Edits of recipes, tried before they are advised: the rules judge what the recipes would say.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// What edits change.
struct RecipeTrial {
  std::vector<std::string> brings;    // sentences about what fails or may fail, and did not before
  bool fails = false;                 // one of them is a FAIL
  std::map<std::string, Level> left;  // troubles that are there afterwards, by trouble_of

  // Whether a finding is no more.
  [[nodiscard]] bool mends(const Finding& finding) const;
};

// What a finding is about, whichever version it names: its rule, its card and its package.
[[nodiscard]] std::string trouble_of(const Finding& finding);

class RecipeTrials {
 public:
  RecipeTrials(const Facts& facts, const Knowledge& knowledge)
      : facts_(facts), knowledge_(knowledge) {}

  // What becomes of columns whose files are edited: the rules for requirements, indexes,
  // versions, cuDNN and pinned frameworks judge them once more. None: there are too many files,
  // lines or trials to try all.
  [[nodiscard]] std::optional<RecipeTrial> run(std::span<const RecipeColumn> columns,
                                               std::span<const AlignmentEdit> edits);

 private:
  using Troubles = std::map<std::string, std::pair<Level, std::string>>;  // with their sentences

  [[nodiscard]] Troubles troubles(const Facts& facts, const RecipeColumn& column) const;

  const Facts& facts_;
  const Knowledge& knowledge_;
  std::map<std::string, Troubles> before_;  // by the names of columns
  size_t spent_ = 0;                        // requirements that were judged
};

}  // namespace mynah::doctor
