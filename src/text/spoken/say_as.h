// SSML's say-as: text that is read as its author says, not as it looks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/spoken/spoken_text.h"

namespace mynah {

// The words for a text under an interpret-as and a format (W3C, "SSML 1.0 say-as attribute values",
// and the values that Amazon Polly, Azure and Google share): characters, spell-out, verbatim,
// digits, cardinal, number, ordinal, date (mdy, dmy, ymd, md, dm, ym, my, y, m, d), telephone,
// fraction, expletive. Nothing where the text does not fit, and for those that are read as any text
// is: time, currency, unit, address.
[[nodiscard]] std::optional<std::string> say_as_words(std::string_view text,
                                                      std::string_view interpret_as,
                                                      std::string_view format,
                                                      EnglishDialect dialect);

// Whether the value is one of those above.
[[nodiscard]] bool is_known_say_as(std::string_view interpret_as);

}  // namespace mynah
