// Words of what is asked, each a text for FTS5.
#include "talk/memory/word_query.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace mynah::talk {
namespace {

std::string word_query(std::string_view text) {
  return any_of(query_words(text));
}

TEST(WordQuery, WordsInSmallLettersEachOnce) {
  EXPECT_EQ(word_query("Who plays? WHO, Müller!"), R"("who" OR "plays" OR "müller")");
  EXPECT_EQ(word_query("a\"b NEAR(c d) text:e*"),
            R"("a" OR "b" OR "near" OR "c" OR "d" OR "text" OR "e")");
  EXPECT_EQ(word_query(""), "");
  EXPECT_EQ(word_query("... \"\" \xFF\xC0 \n"), "");
  EXPECT_EQ(word_query("one\xFFtwo"), R"("one" OR "two")");
}

TEST(WordQuery, OfALongTextTheFirstWords) {
  std::string text;
  for (size_t i = 0; i < 10 * kMostQueryWords; ++i) {
    text += "w" + std::to_string(i) + " ";
  }
  const std::string query = word_query(text);
  EXPECT_EQ(std::ranges::count(query, '"'), static_cast<ptrdiff_t>(2 * kMostQueryWords));
  EXPECT_FALSE(word_query(std::string(10'000'000, 'a')).empty());
}

}  // namespace
}  // namespace mynah::talk
