// Items as rows of the memory's database.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "store/sqlite.h"
#include "talk/memory/memory_store.h"

namespace mynah::talk {

// "SELECT ... FROM items " + `rest`, for read_item().
Result<Statement> select_items(const Database& database, const std::string& rest);

// The present row.
[[nodiscard]] MemoryItem read_item(const Statement& row);

// What a filter means of an item, as SQL's condition over items; never what is to be forgotten.
// MemoryFilter::containing is has_words()'s.
[[nodiscard]] std::string condition_of(const MemoryFilter& filter);

// Whether the filter's words stand in an item: in what was said, what was played of it, or a name.
class WordsWithin {
 public:
  explicit WordsWithin(std::string_view words);

  // True of all where there are no words.
  [[nodiscard]] bool in(const MemoryItem& item) const;

 private:
  [[nodiscard]] bool in(std::string_view text) const;

  std::string words_;  // in small letters
};

}  // namespace mynah::talk
