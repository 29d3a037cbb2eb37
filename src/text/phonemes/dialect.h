// Words as people speak them, which a tokenizer would cut at their apostrophes: 'tis, o', th',
// d'you, nothin'.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// A word with apostrophes, in characters of the text.
struct DialectWord {
  size_t begin = 0;
  size_t end = 0;
  std::u32string ing;                         // of "nothin'": "nothing"; empty where it is listed
  std::optional<std::u32string_view> listed;  // phonemes of data/dialect.tsv
};

// What may be such a word, in order. Whoever knows English decides on those in -in'.
[[nodiscard]] std::vector<DialectWord> dialect_words(std::u32string_view text, bool british);

// Accents and other marks between letters that were meant to be apostrophes become such:
// don\u00B4t, won`t. The length stays.
void repair_apostrophes(std::u32string& text);

}  // namespace mynah
