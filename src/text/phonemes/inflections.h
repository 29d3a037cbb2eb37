// How -s, -ed and -ing sound behind a word, and which word they stand behind (misaki 0.9.4,
// en.py).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace mynah {

enum class Inflection { S, Ed, Ing };

// The phonemes of a word with that ending; none where the word has none, or where it cannot be told
// from its sounds.
[[nodiscard]] std::optional<std::u32string> inflected(std::u32string_view phonemes,
                                                      Inflection inflection, bool british);

// Spellings that the word without the ending may have, the likelier ones first; empty where the
// word does not end so.
[[nodiscard]] std::array<std::u32string, 3> stems(std::u32string_view word, Inflection inflection);

}  // namespace mynah
