// Days and months that are cut short.
#pragma once

#include <cstddef>
#include <optional>

#include "text/spoken/reading.h"

namespace mynah {

// "Sat 3 May", "on Sat.", "Fri and Sat". "Sat on the mat" and "the Sun" are words: three letters
// that are a word as well are a day where a date, another day or a word such as "on" is beside
// them.
[[nodiscard]] std::optional<Reading> read_day(const Tokens& tokens, size_t at);

// "Mon, 3 March", "Mon-Fri", "Jan.-Mar.": names are cut short where a date or another one follows.
[[nodiscard]] std::optional<Reading> read_calendar_name(const Tokens& tokens, size_t at);

}  // namespace mynah
