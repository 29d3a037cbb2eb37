// Words that are said in two ways where neither a lexicon nor the part of speech tells which: the
// lead of a pencil, the bow of a ship, a row about nothing. A table says which words nearby decide
// (data/homographs.tsv, which says what its fields are).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "text/phonemes/word_parts.h"

namespace mynah {

// A row of the table.
struct HomographRule {
  std::u32string word;
  std::u32string small;  // the word in small letters
  std::u32string american;
  std::u32string british;
  std::string tag;
  std::u32string before;
  std::u32string after;
  std::u32string near;
};

// Sorted by their words in small letters; those of one word in the order of the file.
[[nodiscard]] std::span<const HomographRule> homograph_rules();

// Whether the table asks for the part of speech of a word in small letters.
[[nodiscard]] bool is_homograph_by_tag(std::u32string_view word);

// What the table says of the word at `at`, in Kokoro's alphabet; none where it has no rule that
// fits. A word that stands together with others ("lead-free") has none.
[[nodiscard]] std::optional<std::u32string_view> homograph_reading(
    std::span<const TaggedToken> tokens, size_t at, bool british);

}  // namespace mynah
