// What an image has in the end: its commands follow each other, and the last one decides.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// Leaves in the column's packages what is there after the last step of `image`, a Dockerfile of the
// column, as pip does it: what is there and would do stays, unless the command renews it; a step
// that may run or not leaves in doubt what came before it. The rest goes to `passing`, pins that
// others replace to `replaced`, too.
void settle_steps(const Recipe& image, RecipeColumn& column);

// What a later command puts in the place of a pinned package, as something that it installs asks
// for another.
struct Displaced {
  const Asked* by = nullptr;
  std::string wants;  // a specifier
};

[[nodiscard]] std::optional<Displaced> displaced(const RecipeColumn& column,
                                                 std::string_view package,
                                                 const Knowledge& knowledge);

// Whether nothing was there before what is asked for: an image that is known to be bare of packages
// for computing, no command before it that may have brought it along, and no file taken in that was
// not read. Files that stand for themselves are installed into an empty environment.
[[nodiscard]] bool comes_first(const RecipeColumn& column, const Asked& asked);

}  // namespace mynah::doctor
