// Words that are said in two ways where neither a lexicon nor the part of speech tells which: the
// lead of a pencil, the bow of a ship, a row about nothing. A table says which words nearby decide
// (homograph_table.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "text/phonemes/word_parts.h"

namespace mynah {

// What the table says of the word at `at`, in Kokoro's alphabet; none where it has no rule that
// fits. A word that stands together with others ("lead-free") has none.
[[nodiscard]] std::optional<std::u32string_view> homograph_reading(
    std::span<const TaggedToken> tokens, size_t at, bool british);

}  // namespace mynah
