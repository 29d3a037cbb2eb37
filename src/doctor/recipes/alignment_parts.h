// What alignment.h is made of.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/recipes/alignment.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

class RecipeTrials;

// A column's torch with the variant that comes: "2.5.1+cu124" also where the variant is that of the
// Python index, or an image of PyTorch's has it. None: it is not pinned, or nobody asks.
[[nodiscard]] std::optional<Version> torch_of(const RecipeColumn& column,
                                              const Knowledge& knowledge);

// A version of torch with its variant, where the knowledge base knows which one the Python index
// has.
[[nodiscard]] Version with_variant(Version torch, const Knowledge& knowledge);

// The rows of the matrix.
[[nodiscard]] std::vector<AlignmentRow> alignment_rows(std::span<const RecipeColumn> columns,
                                                       const Machine& machine,
                                                       const Knowledge& knowledge);

// The smallest set of edits, of those that were tried first one that brings no trouble, and into
// `target` what they align on.
[[nodiscard]] std::vector<AlignmentEdit> smallest_edits(std::span<const RecipeColumn> columns,
                                                        const Machine& machine,
                                                        const Knowledge& knowledge,
                                                        RecipeTrials& trials, std::string& target);

// A torch beside what asks for it, where no line does: pinned, with the index that has it and its
// companions.
[[nodiscard]] std::vector<AlignmentEdit> torch_beside(const RecipeColumn& column, const Asked& by,
                                                      const Version& target,
                                                      const Knowledge& knowledge);

// A column's torch in another version and variant, with its companions and the index that has it.
// What is added in front of other lines comes last. `why` is said of a pin.
[[nodiscard]] std::vector<AlignmentEdit> torch_edits(const RecipeColumn& column,
                                                     const Version& target, const std::string& why,
                                                     const Knowledge& knowledge);

// The same without order, behind other edits: a line that is put in moves those below it.
void change_torch(const RecipeColumn& column, const Version& target, const std::string& why,
                  const Knowledge& knowledge, std::vector<AlignmentEdit>& edits);

// A torch for the processor alone, by its version, its index or conda's name for it: all is meant
// to be without a card that computes by torch or beside it.
[[nodiscard]] bool is_for_processor(const RecipeColumn& column, const Knowledge& knowledge);

// Of packages that edits concern, what was not read and may bound them; empty: nothing. Pinned ones
// whose other versions are known to ask for a package that an edit pins, and pins of releases of
// which others are known.
[[nodiscard]] std::string unread_needs(std::span<const AlignmentEdit> edits,
                                       const RecipeColumn& column, const Knowledge& knowledge);

// torch's companions that PyTorch's image has, and that no command asks for or removes: they are of
// the image's torch, whichever comes in its place.
[[nodiscard]] std::vector<std::string_view> image_companions(const RecipeColumn& column);

// A version of CUDA as tags of images have it, with three numbers: "12.8.1" of "12.8". Of versions
// that are listed with two, the first is sure to be there.
[[nodiscard]] std::string cuda_of_tag(const std::string& cuda, const Knowledge& knowledge);

// The oldest driver of each pinned framework on each card.
[[nodiscard]] std::vector<AlignmentDriver> driver_floors(std::span<const RecipeColumn> columns,
                                                         const Machine& machine,
                                                         const Knowledge& knowledge);

// "13" of "13.0.1"; 0: none.
[[nodiscard]] int major_version(std::string_view version);

}  // namespace mynah::doctor
