// "3/4" and "½", alone and as parts of a unit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "text/spoken/reading.h"

namespace mynah {

// "3/4", "1/2 tsp", "8/10", "24/7".
[[nodiscard]] std::optional<Reading> read_fraction(const Tokens& tokens, size_t at,
                                                   const SpokenOptions& options);

// A part of one unit: "one half" behind which at `end` "tsp" stands is "half a teaspoon", before a
// noun "half inch" ("a 1/2 inch bolt", "1/2-inch pipe"). `at` is where the number begins. Nothing
// where no unit follows.
[[nodiscard]] std::optional<Reading> read_part_of_unit(const Tokens& tokens, size_t at, size_t end,
                                                       std::string_view fraction,
                                                       const SpokenOptions& options);

}  // namespace mynah
