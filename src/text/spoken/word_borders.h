// Where two texts that stand apart touch, as on both sides of a tag: whether they need a space.
#pragma once

namespace mynah {

// `before` ends a word or a clause, and `behind` begins a word. No space stands between letters of
// scripts that are written without them, nor at quotes, hyphens and apostrophes: these belong to
// the word that they touch.
[[nodiscard]] bool is_word_border(char32_t before, char32_t behind);

}  // namespace mynah
