// Isotopes: "\u00B2\u00B3\u2075U" is uranium two thirty-five.
#pragma once

#include <cstddef>
#include <optional>

#include "text/spoken/reading.h"

namespace mynah {

// An element's symbol behind its mass number in raised digits, the first of which is at `at`.
[[nodiscard]] std::optional<Reading> read_isotope(const Tokens& tokens, size_t at,
                                                  EnglishDialect dialect);

}  // namespace mynah
