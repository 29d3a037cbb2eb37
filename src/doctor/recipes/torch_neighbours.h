// Packages that go with one release of torch alone, beside a torch that changes: those that ask for
// it exactly (xformers, vllm, fairseq2), and those that it asks for exactly (triton).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// The torch to take in place of `target` for which all pinned packages that ask for one exactly
// have a release: a later one of the same variant. None: `target` is one, or there is none.
[[nodiscard]] std::optional<Version> torch_with_neighbours(const RecipeColumn& column,
                                                           const Version& target,
                                                           const Knowledge& knowledge);

// Moves pins that go with one torch alone to what goes with `target`, as far as there is a release
// that does.
void move_neighbours(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                     std::vector<AlignmentEdit>& edits);

// The torch that a build names as the one that it was made with, in the local part of its version
// or its wheel's name: "2.6" of "2.7.4.post1+cu12torch2.6cxx11abiFALSE" and of "2.1.2+pt26cu124".
[[nodiscard]] std::optional<Version> torch_of_build(const Requirement& requirement);

// Whether a package's compiled code is known to be bound to the torch that it was built with, and
// what its releases ask for is not known: flash-attn, torch-scatter.
[[nodiscard]] bool is_built_with_torch(std::string_view package);

}  // namespace mynah::doctor
