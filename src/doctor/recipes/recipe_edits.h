// Edits of recipes: made from what is asked for, and done to facts to see what they come to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// Another version where a requirement stands; what a lock pins is changed where its project asks
// for it. `to` is a specifier.
[[nodiscard]] AlignmentEdit pin_edit(const RecipeColumn& column, const Asked& decides,
                                     const std::string& to, std::string why);

// Another image where a column's stands.
[[nodiscard]] AlignmentEdit image_edit(const RecipeColumn& column, const std::string& to,
                                       std::string why);

// Does edits to recipes, as if the files said so. What none of the recipes has is left alone.
void apply_edits(std::vector<Recipe>& recipes, std::span<const AlignmentEdit> edits);

}  // namespace mynah::doctor
