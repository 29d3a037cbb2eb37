// Text in lines of a terminal's width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

// Breaks text at spaces into lines of at most `columns` characters, each but the first behind
// `indent` spaces; the first has as many characters before it. A word that is longer is not broken.
// Characters are counted as UTF-8 has them, each as one column.
[[nodiscard]] std::string wrapped(std::string_view text, size_t indent, size_t columns);

}  // namespace mynah
