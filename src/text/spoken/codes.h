// Numbers that name something rather than count it: rooms, seats, roads, PINs.
#pragma once

#include <cstddef>

#include "text/spoken/tokens.h"

namespace mynah {

// "Room 101", "Flight 370", "123 Main St.": three or four digits that are said in pairs.
[[nodiscard]] bool wants_pairs(const Tokens& tokens, size_t at);

// "call 911", "PIN 1234", a postal code: digits that are said one by one.
[[nodiscard]] bool wants_digits(const Tokens& tokens, size_t at);

}  // namespace mynah
