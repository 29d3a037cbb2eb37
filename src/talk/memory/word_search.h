// Which items are looked at when a text's words are looked for: all that have any of them where
// they are few, else those that have its rarer words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite.h"

namespace mynah::talk {

struct WordSearch {
  std::string query;  // of FTS5's; "": the text has no word that any item has
  int64_t from = 0;   // items before this one are not looked at
};

// What FTS5 is to be asked so that it ranks no more than about kMostRanked items: to rank one takes
// microseconds, and common words are in most. Of the items that have one of the rarest words all
// words count; where even the rarest is common, the newest that have it are looked at.
Result<WordSearch> word_search(const Database& database, std::string_view text);

inline constexpr int64_t kMostRanked = 4000;

}  // namespace mynah::talk
