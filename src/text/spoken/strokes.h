// Strokes between words and numbers.
#pragma once

#include "text/spoken/reading.h"

namespace mynah {

// What stands below the stroke of a price: "5\u00A2/kWh", "$0.12/kWh".
[[nodiscard]] std::optional<Reading> read_price_divisor(const Tokens& tokens, size_t at,
                                                        const SpokenOptions& options);

// "and/or", "$2.50/lb", "1/n", "butter/margarine"; any other is "slash".
[[nodiscard]] std::optional<Reading> read_stroke(const Tokens& tokens, size_t at);

}  // namespace mynah
