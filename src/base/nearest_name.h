// The known name that a mistyped one most likely meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mynah {

// Edits (insert, delete, replace, swap of neighbours) that turn a into b; bytes, not characters.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the fewest edits, capitals or not, where that is at most a third of the longer
// name's length; else a candidate that begins with `name`, else one that holds it (where it has
// three bytes at least), else none.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);

// " (did you mean NAME?)", or nothing.
[[nodiscard]] std::string suggestion(std::string_view name,
                                     std::span<const std::string> candidates);

}  // namespace mynah
