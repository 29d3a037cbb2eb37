// HTML's character references.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// The characters of "amp", "#8217" or "#x2019" (what stands between & and ;), or nothing where it
// is none of the names that texts use.
[[nodiscard]] std::optional<std::string> entity_text(std::string_view name);

}  // namespace mynah
