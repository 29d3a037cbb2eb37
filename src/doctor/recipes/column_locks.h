// Locks that hold several versions of a package, and the project that says which of them it takes.
#pragma once

#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// Of several versions of a package that a lock holds, one for each extra for example, leaves in the
// column's packages those that the project beside it takes: what it asks for itself refuses the
// others, or names another index than they come from. Where none would be left, all stay.
void settle_locks(RecipeColumn& column);

}  // namespace mynah::doctor
