// TeX's formulas in words.
#pragma once

#include <string>
#include <string_view>

#include "text/spoken/spoken_text.h"

namespace mynah {

// The inside of a formula: "E = mc^2" is "E equals M C squared". What has no name is left out;
// braces that do not match end with the text. Letters are marked by kLetterName.
[[nodiscard]] std::string formula_words(std::string_view tex, EnglishDialect dialect);

}  // namespace mynah
