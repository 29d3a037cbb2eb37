// The Python that a recipe takes.
#pragma once

#include <string>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// Whether a release is for the Python of a column, as far as both are known: what is proposed must
// be one that the installer takes there.
[[nodiscard]] bool takes_python(const RecipeColumn& column, const std::string& package,
                                const Version& release, const Knowledge& knowledge);

}  // namespace mynah::doctor
