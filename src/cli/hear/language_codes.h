// The codes that files have for a language.
#pragma once

#include <string>
#include <string_view>

namespace mynah::cli {

// All codes of a language that is named by one of them or in English, in either case, with commas
// between: "de,deu,ger" for "ger" and for "German". What is not known is a code of its own.
[[nodiscard]] std::string language_codes(std::string_view language);

// The code of a language that is given by its English name ("German"); anything else as it is.
[[nodiscard]] std::string language_code_of_name(const std::string& language);

}  // namespace mynah::cli
