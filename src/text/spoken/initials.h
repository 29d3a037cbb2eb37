// Initials behind numbers, which are no units.
#pragma once

#include <cstddef>

#include "text/spoken/tokens.h"

namespace mynah {

// Whether the capital at `letter`, which stands behind a number, is the first letter of a name, of
// an era or of a species rather than a unit: "In 1990 A. Smith left", "410 A.D.", "5 J. K. Lee".
[[nodiscard]] bool is_initial(const Tokens& tokens, size_t letter);

}  // namespace mynah
