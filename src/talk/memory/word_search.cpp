#include "talk/memory/word_search.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "talk/memory/word_query.h"

namespace mynah::talk {
namespace {

// A word as FTS5 is asked for it, and how many items have it.
struct CountedWord {
  std::string query;
  int64_t items = 0;
};

Result<int64_t> first_number(Statement statement) {
  MYNAH_TRY(const bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

}  // namespace

Result<WordSearch> word_search(const Database& database, std::string_view text) {
  const std::vector<std::string> words = query_words(text);
  MYNAH_TRY(Statement newest, database.prepare("SELECT max(id) FROM items"));
  MYNAH_TRY(const int64_t last, first_number(std::move(newest)));
  if (words.empty() || last <= kMostRanked) {
    return WordSearch{.query = any_of(words)};
  }
  std::vector<CountedWord> counted;
  for (const std::string& word : words) {
    MYNAH_TRY(Statement counting,
              database.prepare("SELECT count(*) FROM words WHERE words MATCH ?"));
    counting.bind(word);
    MYNAH_TRY(const int64_t items, first_number(std::move(counting)));
    if (items > 0) {
      counted.push_back({.query = word, .items = items});
    }
  }
  if (counted.empty()) {
    return WordSearch{};
  }
  std::ranges::sort(counted, [](const CountedWord& a, const CountedWord& b) {
    return a.items != b.items ? a.items < b.items : a.query < b.query;
  });
  std::vector<std::string> known;
  size_t rare = 0;
  int64_t ranked = 0;
  for (const CountedWord& word : counted) {
    known.push_back(word.query);
    ranked += word.items;
    rare += ranked <= kMostRanked ? 1 : 0;
  }
  WordSearch search;
  if (rare == 0) {
    rare = 1;
    search.from = last - last * kMostRanked / counted.front().items;
  }
  search.query = any_of(known);
  if (rare < known.size()) {
    // bm25 counts the rare words twice, as they stand there twice, and the common ones of these
    // items once.
    search.query = fmt::format("({}) AND ({})", any_of(std::span(known).first(rare)), search.query);
  }
  return search;
}

}  // namespace mynah::talk
