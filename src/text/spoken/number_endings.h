// Numbers with an ending that makes them ordinals, plurals or people.
#pragma once

#include "text/spoken/reading.h"

namespace mynah {

// "1st", "1st-3rd", "5-6th", "19th \u2013 20th".
[[nodiscard]] std::optional<Reading> read_ordinal(const Tokens& tokens, size_t at,
                                                  const SpokenOptions& options);

// "the 49ers": those who have a number.
[[nodiscard]] std::optional<Reading> read_people(const Tokens& tokens, size_t at,
                                                 const SpokenOptions& options);

// "1990s", "the '90s", "747s", "1990s\u20132000s", "1,000s", and "the class of '24".
[[nodiscard]] std::optional<Reading> read_plural(const Tokens& tokens, size_t at,
                                                 const SpokenOptions& options);

}  // namespace mynah
