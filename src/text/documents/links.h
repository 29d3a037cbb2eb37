// Links between the pages of a book.
#pragma once

#include <string>
#include <string_view>

namespace mynah {

// A link from a page at `base` as a name in the archive, without what follows "#"; "#" alone leads
// to the page itself. "%20" and its like are characters.
[[nodiscard]] std::string resolve_link(const std::string& base, std::string_view link);

// What follows "#"; "" where nothing does.
[[nodiscard]] std::string anchor_of(std::string_view link);

// Whether a link leads out of the book: "https://...", "mailto:...".
[[nodiscard]] bool is_outside(std::string_view link);

}  // namespace mynah
