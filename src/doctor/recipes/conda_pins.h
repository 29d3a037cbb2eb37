// What conda's files pin: "pytorch=2.5.1" is any build of that release.
#pragma once

#include <string_view>

#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// resolve(), with the release for a version where conda is asked for any build of it.
[[nodiscard]] Resolved resolve_any_build(const RecipeColumn& column, std::string_view package);

// The major version of the cuDNN that conda's torch stands on, where all builds of its release are
// known to have the same. 0: it is not known, or the torch is not conda's.
[[nodiscard]] int cudnn_of_conda(const RecipeColumn& column, const Knowledge& knowledge);

}  // namespace mynah::doctor
