// What conda's files pin: "pytorch=2.5.1" is any build of that release.
#pragma once

#include <string_view>

#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// resolve(), with the release for a version where conda is asked for any build of it.
[[nodiscard]] Resolved resolve_any_build(const RecipeColumn& column, std::string_view package);

}  // namespace mynah::doctor
