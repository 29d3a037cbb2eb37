// Another release of torch, where the Python index has the build that does.
#pragma once

#include <functional>
#include <optional>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// The release nearest to the one of a column, newer ones first, whose build on the Python index
// `works`: "2.8.0+cu128". It is for the column's Python, and within what is asked for where that is
// no pin. None: there is none that is known.
[[nodiscard]] std::optional<Version> default_torch(
    const RecipeColumn& column, const Version& present, const Knowledge& knowledge,
    const std::function<bool(const Framework&)>& works);

}  // namespace mynah::doctor
