// What somebody asks to be remembered: "Remember that my sister lives in Ulm."
#pragma once

#include <string_view>

namespace mynah::talk {

// The words to remember, a piece of `said`; "": nobody asked. English, German, French, Spanish,
// Italian, Portuguese and Dutch are understood, at the beginning of what is said, behind a "please"
// or an address. A question ("do you remember that ...?") asks for nothing.
[[nodiscard]] std::string_view words_to_remember(std::string_view said);

}  // namespace mynah::talk
