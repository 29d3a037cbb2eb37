// HTML's character references.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// The longest name is CounterClockwiseContourIntegral; nobody writes more digits than fit.
constexpr size_t kLongestEntityName = 31;

// The characters of "amp", "#8217" or "#x2019" (what stands between & and ;), or nothing where it
// is no name of HTML (data/html_entities.tsv) and no number. Numbers from 128 to 159 are those of
// Windows-1252, as browsers have it; numbers of no character are U+FFFD (HTML living standard,
// 13.2.5.80).
[[nodiscard]] std::optional<std::string> entity_characters(std::string_view name);

// The same as text that is spoken: spaces of any width are spaces. Nothing for numbers of no
// character, which stay as they are written.
[[nodiscard]] std::optional<std::string> entity_text(std::string_view name);

}  // namespace mynah
