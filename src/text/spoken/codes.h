// Numbers that name something rather than count it: rooms, seats, roads, PINs.
#pragma once

#include <cstddef>

#include "text/spoken/reading.h"

namespace mynah {

// "Room 101", "Flight 370", "123 Main St.": three or four digits that are said in pairs.
[[nodiscard]] bool wants_pairs(const Tokens& tokens, size_t at);

// "call 911", "PIN 1234", a postal code: digits that are said one by one.
[[nodiscard]] bool wants_digits(const Tokens& tokens, size_t at);

// "4Bs", "3 As", "Ps and Qs": letters that are counted.
[[nodiscard]] std::optional<Reading> read_letter_plural(const Tokens& tokens, size_t at,
                                                        const SpokenOptions& options);

// Whether a house's number and one to three names stand before `at`, so that "St." and "Dr." there
// are a street's: "12 Elm Dr. Apt 4".
[[nodiscard]] bool is_behind_street_name(const Tokens& tokens, size_t at);

}  // namespace mynah
