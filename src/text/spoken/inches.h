// Feet and inches by their marks, which are quotes elsewhere.
#pragma once

#include <cstddef>

#include "text/spoken/reading.h"

namespace mynah {

// Whether the double quote at `at`, behind a number, stands for inches: no quotation is open that
// it could close, and nothing follows that would follow one.
[[nodiscard]] bool is_inch_mark(const Tokens& tokens, size_t at);

// "inches"; "inch" where a thing follows that is so long: 12" pizza, 3" nails.
[[nodiscard]] std::string_view inch_word(const Tokens& tokens, size_t behind);

// Whether "in" at `at`, behind a number that begins at `number`, stands for inches: feet stand
// before it ("6 ft 2 in") or what is measured behind it ("5 in wide").
[[nodiscard]] bool is_inch_word(const Tokens& tokens, size_t at, size_t number);

// 5'10", 6' 2", 5'10, 6' tall.
[[nodiscard]] std::optional<Reading> read_feet(const Tokens& tokens, size_t at,
                                               const SpokenOptions& options);

}  // namespace mynah
