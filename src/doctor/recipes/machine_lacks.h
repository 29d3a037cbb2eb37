// Libraries of CUDA that a recipe leaves to the machine it is installed on.
#pragma once

#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/column_libraries.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// Whether anybody looked where a machine's loader does: of a card that is only named nobody knows
// what lies beside it.
[[nodiscard]] bool loader_is_known(const Machine& machine);

// Whether a machine's loader finds a library of one major version: "libcublas", 12.
[[nodiscard]] bool loader_finds(const Machine& machine, std::string_view library, int major);

// What packages of a recipe that is no image open, and neither a line of it nor, where that is
// known, the machine has. `beside`: wheels bring it, into folders of their own, and nothing loads
// it from there. Nothing for machines without a card of NVIDIA's and for Windows, whose wheels
// differ; where only another version comes, column_cublas.h and column_cudnn.h tell.
[[nodiscard]] std::vector<LibraryLack> machine_lacks(const RecipeColumn& column,
                                                     const Machine& machine,
                                                     const Knowledge& knowledge);

}  // namespace mynah::doctor
