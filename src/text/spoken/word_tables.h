// Tables of words that are part of the program, src/text/spoken/data: facts that grow stand there
// and not in the sources. Each is read when it is first asked for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "text/spoken/tokens.h"

namespace mynah {

enum class WordTable : uint8_t {
  Abbreviations,
  Currencies,
  Elements,
  Emoji,
  Emoticons,
  HtmlEntities,
  Phrases,
  Respelled,
  Signs,
  States,
  Units
};

// The fields of a row; those that are missing or "-" are empty.
using TableRow = std::array<std::string_view, 5>;

// The rows of a table by their first fields. Capitals count.
using TableRows = std::unordered_map<std::string_view, TableRow>;
[[nodiscard]] const TableRows& table_rows(WordTable table);

// The row whose first field is `key`; null where there is none.
[[nodiscard]] const TableRow* find_row(WordTable table, std::string_view key);

// A list of word_lists.tsv, by its name.
struct WordList {
  std::string_view name;
};

// Whether a word is one of the list's. Capitals count.
[[nodiscard]] bool among(WordList list, std::string_view word);

// Whether a word of the list, in small letters or with a capital, stands within that many tokens
// before or behind `at`.
[[nodiscard]] bool is_near(WordList list, const Tokens& tokens, size_t at, size_t distance);

}  // namespace mynah
