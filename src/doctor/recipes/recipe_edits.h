// Edits of recipes: made from what is asked for, and done to facts to see what they come to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// Another version where a requirement stands; what was compiled is changed where it was compiled
// from. `to` is a specifier.
[[nodiscard]] AlignmentEdit pin_edit(const RecipeColumn& column, const Asked& decides,
                                     const std::string& to, std::string why);

// A line of its own in the file that asks for something.
[[nodiscard]] AlignmentEdit line_edit(const Asked& asked, std::string to, std::string why);

// What an edit of a requirement leaves to be done where its line has hashes; empty: nothing.
[[nodiscard]] std::string_view hash_words(const Requirement& requirement);

// What an edit begins with that names an index beside the one that is there.
inline constexpr std::string_view kExtraIndex = "--extra-index-url ";

// What an edit begins with that gives a package torch's line of a project's [tool.uv.sources].
inline constexpr std::string_view kSourceOfTorch = "source of torch: ";

// Another image where a column's stands.
[[nodiscard]] AlignmentEdit image_edit(const RecipeColumn& column, const std::string& to,
                                       std::string why);

// Adds an edit that changes something and is not there yet: columns share files.
void add_edit(std::vector<AlignmentEdit>& edits, AlignmentEdit edit);

// What makes a lock anew, as all edits of that lock want it: one command, and what it does.
[[nodiscard]] RemedyStep lock_step(std::span<const AlignmentEdit> edits);

// A command in the folder of a lock; empty: there is none, or a shell would not take the folder.
[[nodiscard]] std::string beside_lock(const std::string& file, const std::string& command);

// Whether a program makes a file, from what others say: uv.lock, Pipfile.lock.
[[nodiscard]] bool is_lock(const std::string& file);

// Does edits to recipes, as if the files said so. What none of the recipes has is left alone.
void apply_edits(std::vector<Recipe>& recipes, std::span<const AlignmentEdit> edits);

}  // namespace mynah::doctor
