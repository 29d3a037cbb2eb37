// Addresses that recipes name for packages to come from, and what is known of what lies there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// That of the knowledge base which an address belongs to: PyTorch's. Null: none, as are mirrors,
// folders of wheels, and the Python index where a recipe names it: of these nobody knows what they
// have, and what they lack.
[[nodiscard]] const PackageIndex* known_index(std::string_view url, const Knowledge& knowledge);

// Whether an address has the shape of the Python index or of a whole mirror of it:
// "https://mirror.example/simple", a host of two names and nothing more before the path. Feeds with
// builds of their own have longer ones. It says that wheels there are those that everybody has, not
// that others are missing.
[[nodiscard]] bool looks_like_python_index(std::string_view url);

// Addresses that a requirement of a column may be looked for at: its own, or else all that its
// files name for anybody.
[[nodiscard]] std::vector<std::string> urls_of(const RecipeColumn& column,
                                               const Requirement& requirement);

// Whether an address may have other builds of a version than the Python index and PyTorch's have.
[[nodiscard]] bool may_have_own_builds(std::string_view url, const Knowledge& knowledge);

// The same of some of those that a requirement of a column may be looked for at.
[[nodiscard]] bool may_have_own_builds(const RecipeColumn& column, const Requirement& requirement,
                                       const Knowledge& knowledge);

// Where a package may come from beside the Python index, of whose builds nobody knows: an address
// or a file of its own, or a feed that is named beside. What stands in place of the Python index
// has what that has. Empty: nowhere, or nobody asks.
[[nodiscard]] std::string other_source(const RecipeColumn& column, const Asked* asked,
                                       const Knowledge& knowledge);

// The variant of PyTorch that a requirement's one index is for, where that stands in place of the
// Python index and nothing else is looked at: "cu128". Empty: there is none such.
[[nodiscard]] std::string only_variant(const RecipeColumn& column, const Asked& asked,
                                       const Knowledge& knowledge);

// The same where that index gets no new releases of torch any more: PyTorch has given its CUDA
// version up, so that the newest that is known there is the newest that can come.
[[nodiscard]] std::string ended_variant(const RecipeColumn& column, const Asked& asked,
                                        const Knowledge& knowledge);

}  // namespace mynah::doctor
