// What was said of columns of recipes, one after the other: repeated, doubtful, or the same of
// several.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "doctor/finding.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// How much of a report was there.
struct Said {
  size_t verdicts = 0;
  size_t findings = 0;
};

[[nodiscard]] Said said_of(const Report& report);

// Of a project with an extra only what the project without it has not is said once more: what came
// from `base` on is the project's and its other extras', what came from `own` on this one's.
void drop_repeated(Report& report, const Said& base, const Said& own, const RecipeColumn& column);

// What an extra brings that nobody says is installed may fail, and no more.
void doubt_extra(Report& report, const Said& own, const RecipeColumn& column);

// Whether another column is a service of a file beside this one's, and reserves a card.
[[nodiscard]] bool has_card_beside(const RecipeColumn& column, const RecipeColumn& other);

// Whether a service gets no card, as far as its files say: it reserves none, and no file beside its
// own adds one to it. `columns` are all there are.
[[nodiscard]] bool lacks_card(const RecipeColumn& column, const std::vector<RecipeColumn>& columns);

// What would fail on a card does not where the service gets none: the processor computes.
void doubt_without_card(Report& report, const Said& own, const RecipeColumn& column);

// What would fail on a card of a file that is for another kind of machine, by its name.
void doubt_other_machine(Report& report, const Said& own, const RecipeColumn& column);

// Where the findings of a column begin.
struct SaidOfColumn {
  const RecipeColumn* column = nullptr;
  size_t from = 0;
};

// What is the same of several columns, in all but their names, is said once, and of all of them.
// `said`: all columns, in the order of their findings.
void say_once(Report& report, std::span<const SaidOfColumn> said);

}  // namespace mynah::doctor
