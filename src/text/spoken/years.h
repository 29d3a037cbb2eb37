// Which numbers are years.
#pragma once

#include <cstddef>

#include "text/spoken/tokens.h"

namespace mynah {

// Whether the digits at `at`, four of them or three behind "year", stand for a year rather than for
// an amount.
[[nodiscard]] bool is_year(const Tokens& tokens, size_t at);

}  // namespace mynah
