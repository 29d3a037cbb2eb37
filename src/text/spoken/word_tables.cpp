#include "text/spoken/word_tables.h"

#include <array>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "base/check.h"
#include "base/embedded_file.h"

#define MYNAH_WORD_TABLE(name) \
  MYNAH_EMBEDDED_FILE(words_##name, MYNAH_WORD_TABLES_FOLDER "/" #name ".tsv")

MYNAH_WORD_TABLE(abbreviations)
MYNAH_WORD_TABLE(currencies)
MYNAH_WORD_TABLE(elements)
MYNAH_WORD_TABLE(emoji)
MYNAH_WORD_TABLE(emoticons)
MYNAH_WORD_TABLE(html_entities)
MYNAH_WORD_TABLE(phrases)
MYNAH_WORD_TABLE(respelled)
MYNAH_WORD_TABLE(signs)
MYNAH_WORD_TABLE(states)
MYNAH_WORD_TABLE(units)
MYNAH_WORD_TABLE(word_lists)

namespace mynah {
namespace {

// By WordTable.
constexpr std::array kTexts = {words_abbreviations, words_currencies, words_elements,
                               words_emoji,         words_emoticons,  words_html_entities,
                               words_phrases,       words_respelled,  words_signs,
                               words_states,        words_units};
static_assert(kTexts.size() == static_cast<size_t>(WordTable::Units) + 1);

using Lists = std::unordered_map<std::string_view, std::unordered_set<std::string_view>>;

// What stands before the next `separator`, which is taken off with it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(part.size() < text.size() ? part.size() + 1 : text.size());
  return part;
}

// Calls `with` for each row of a table's text; lines that begin with "# " are comments.
template <typename With>
void for_each_row(std::string_view text, With&& with) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.starts_with("# ")) {
      continue;
    }
    TableRow row;
    for (size_t field = 0; !line.empty(); ++field) {
      MYNAH_CHECK(field < row.size());
      const std::string_view value = take_until(line, '\t');
      row[field] = value == "-" ? std::string_view{} : value;
    }
    with(row);
  }
}

TableRows read_rows(std::string_view text) {
  TableRows rows;
  for_each_row(text, [&](const TableRow& row) {
    MYNAH_CHECK(!row[0].empty() && rows.emplace(row[0], row).second);
  });
  return rows;
}

Lists read_lists(std::string_view text) {
  Lists lists;
  for_each_row(text, [&](const TableRow& row) {
    for (std::string_view words = row[1]; !words.empty();) {
      lists[row[0]].insert(take_until(words, ' '));
    }
  });
  return lists;
}

}  // namespace

const TableRows& table_rows(WordTable table) {
  struct Table {
    std::once_flag once;
    TableRows rows;
  };

  static std::array<Table, kTexts.size()> tables;
  const auto number = static_cast<size_t>(table);
  Table& wanted = tables[number];
  std::call_once(wanted.once, [&] { wanted.rows = read_rows(kTexts[number]()); });
  return wanted.rows;
}

const TableRow* find_row(WordTable table, std::string_view key) {
  const TableRows& rows = table_rows(table);
  const auto found = rows.find(key);
  return found == rows.end() ? nullptr : &found->second;
}

bool among(WordList list, std::string_view word) {
  static const Lists lists = read_lists(words_word_lists());
  const auto found = lists.find(list.name);
  MYNAH_CHECK(found != lists.end());
  return found->second.contains(word);
}

bool is_near(WordList list, const Tokens& tokens, size_t at, size_t distance) {
  for (size_t i = at > distance ? at - distance : 0; i < at + distance && !tokens.is_end(i); ++i) {
    if (tokens.is_word(i) && among(list, ascii_lower(tokens.text(i)))) {
      return true;
    }
  }
  return false;
}

}  // namespace mynah
