// The groups that recipe_rules.h is made of.
#pragma once

#include <string>
#include <vector>

#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/rules.h"

namespace mynah::doctor {

[[nodiscard]] constexpr Certainty sure(bool certain) {
  return certain ? Certainty::Certain : Certainty::Likely;
}

// A failure that is not certain is not known.
[[nodiscard]] constexpr Level failing(bool certain) {
  return certain ? Level::Fail : Level::Unknown;
}

// A finding about a column; it is added to the report.
Finding& add_finding(Diagnosis& diagnosis, std::string rule, Level level, Certainty certainty,
                     std::string subject, std::string text);

// What stands where: "torch==2.5.1" at "requirements.txt:3".
[[nodiscard]] Evidence evidence_of(const Asked& asked);

// Files and lines of recipes that could not be read.
void judge_reading(Diagnosis& diagnosis);

// Requirements that contradict each other, packages and releases that do not go together.
void judge_requirements(Diagnosis& diagnosis, const RecipeColumn& column);

// Where packages come from: builds that the Python index does not have, and an index in its place
// that lacks what is asked for.
void judge_indexes(Diagnosis& diagnosis, const RecipeColumn& column);

// Versions that no index has.
void judge_versions(Diagnosis& diagnosis, const RecipeColumn& column);

// NumPy 2 beside a torch that was built for NumPy 1.
void judge_numpy(Diagnosis& diagnosis, const RecipeColumn& column);

// Whether an image holds the libraries of CUDA that its packages open.
void judge_image_libraries(Diagnosis& diagnosis, const RecipeColumn& column);

// Versions that come as they come.
void judge_drift(Diagnosis& diagnosis, const RecipeColumn& column);

// Images: their CUDA against the wheels' and the driver, what is compiled in them.
void judge_image(Diagnosis& diagnosis, const RecipeColumn& column);

// Services of compose files: whether they get a card. `columns` are all there are.
void judge_service(Diagnosis& diagnosis, const RecipeColumn& column,
                   const std::vector<RecipeColumn>& columns);

// Pinned frameworks on each card, by the rules for installed ones.
void judge_pinned_frameworks(Diagnosis& diagnosis, const RecipeColumn& column);

}  // namespace mynah::doctor
