// Which items are looked at among many, so that common words cost no more than rare ones.
#include "talk/memory/word_search.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "talk/memory/word_query.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

using testing::ElementsAre;

class WordSearches : public testing::Test {
 protected:
  // Items from 1 on: all have "the", every third "in" and the others "out", numbers 5 to 7 "ulm",
  // number 7 "cello".
  void fill(int64_t items) {
    ASSERT_TRUE(database_);
    ASSERT_TRUE(database_->execute(
        "CREATE TABLE items(id INTEGER PRIMARY KEY);"
        "CREATE VIRTUAL TABLE words USING fts5(text, who, tokenize='porter unicode61');"));
    const Status filled = database_->execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
        std::to_string(items) +
        ") INSERT INTO items SELECT i FROM n;"
        "INSERT INTO words(rowid, text, who) SELECT id, 'the' || iif(id % 3, ' out', ' in') || "
        "iif(id IN (5, 6, 7), ' Ulm', '') || iif(id = 7, ' cello', ''), '' FROM items;");
    ASSERT_TRUE(filled) << filled.error().message;
  }

  // The items that are ranked for a text, the best first.
  std::vector<int64_t> ranked(const std::string& text) {
    const auto search = word_search(*database_, text);
    EXPECT_TRUE(search) << search.error().message;
    std::vector<int64_t> ids;
    if (!search || search->query.empty()) {
      return ids;
    }
    auto select = database_->prepare(
        "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? ORDER BY rank, rowid");
    EXPECT_TRUE(select) << select.error().message;
    select->bind(search->query).bind(search->from);
    for (auto more = select->step(); more && *more; more = select->step()) {
      ids.push_back(select->integer(0));
    }
    return ids;
  }

  mynah::test::TemporaryFolder folder_;
  Result<Database> database_ = Database::open(folder_ / "words.sqlite");
};

TEST_F(WordSearches, AllOfFew) {
  fill(kMostRanked);
  EXPECT_EQ(word_search(*database_, "Is the cello in Ulm?")->query,
            any_of(query_words("Is the cello in Ulm?")));
  EXPECT_EQ(ranked("the").size(), static_cast<size_t>(kMostRanked));
}

TEST_F(WordSearches, OfManyThoseWithTheRareWords) {
  fill(40'000);
  EXPECT_THAT(ranked("Is the cello in Ulm?"), ElementsAre(7, 6, 5))
      << "6 has a common word more than 5";
  EXPECT_THAT(ranked("the bassoon in Ulm"), ElementsAre(6, 5, 7)) << "nobody has a bassoon";
  EXPECT_THAT(ranked("bassoon?"), ElementsAre());
  EXPECT_THAT(ranked("ulm"), testing::UnorderedElementsAre(5, 6, 7));
}

TEST_F(WordSearches, OfCommonWordsAloneTheNewest) {
  fill(40'000);
  const std::vector<int64_t> found = ranked("Is it in the one?");
  EXPECT_NEAR(static_cast<double>(found.size()), static_cast<double>(kMostRanked), 2);
  EXPECT_GE(*std::ranges::min_element(found), 27'990);
  EXPECT_TRUE(std::ranges::all_of(found, [](int64_t id) { return id % 3 == 0; }));
}

}  // namespace
}  // namespace mynah::talk
