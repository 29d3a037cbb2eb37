// Remedies of frameworks as edits of what asks for them.
#pragma once

#include <functional>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/recipes/brought_frameworks.h"
#include "doctor/recipes/recipe_columns.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/rules.h"

namespace mynah::doctor {

// Remedies of a pin change the file that pins: what an installation changes beside it is there for
// as long as nobody makes the environment anew.
void add_recipe_remedies(const Diagnosis& diagnosis, const RecipeColumn& column,
                         const Brought& brought, Finding& finding, std::vector<Remedy> remedies,
                         Proposals& proposals);

// Where a remedy of the next finding has a project name an index: another release, of which the
// Python index has the build that does.
void propose_default_torch(const Diagnosis& diagnosis, const RecipeColumn& column,
                           const Brought& brought,
                           const std::function<bool(const Framework&)>& works,
                           Proposals& proposals);

// Another extra of the project that an image installs one of, with the build that a remedy
// installs.
void add_extra_remedy(const RecipeColumn& column, Finding& finding,
                      const std::vector<Remedy>& remedies);

// PyTorch's own image with the torch that a remedy installs, in place of one with another: there is
// one for each CUDA version of a release, of both flavours.
void add_image_remedy(const Diagnosis& diagnosis, const RecipeColumn& column,
                      const Finding& finding, const std::vector<Remedy>& remedies,
                      Proposals& proposals);

}  // namespace mynah::doctor
