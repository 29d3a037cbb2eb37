#include "text/spoken/clauses.h"

#include <string>

#include <gtest/gtest.h>

#include "much.h"

namespace mynah {
namespace {

std::string cut(std::string_view text, const ClauseOptions& options) {
  std::string joined;
  for (const Clause& clause : cut_clauses(text, options)) {
    joined += joined.empty() ? "" : "|";
    joined += text.substr(clause.begin, clause.end - clause.begin);
  }
  return joined;
}

TEST(Clauses, AShortSentenceIsOnePiece) {
  EXPECT_EQ(cut(" It rains, and we stay. ", {.max_cost = 50}), "It rains, and we stay.");
  EXPECT_EQ(cut("", {}), "");
  EXPECT_EQ(cut("  ", {}), "");
}

TEST(Clauses, TheBestBorderIsTaken) {
  EXPECT_EQ(cut("we saw the red house; it was old, and very big", {.max_cost = 30}),
            "we saw the red house;|it was old, and very big");
  EXPECT_EQ(cut("we saw the red house, it was old and also very big", {.max_cost = 30}),
            "we saw the red house,|it was old and also very big");
  EXPECT_EQ(cut("we saw the old red house and it was really very big", {.max_cost = 30}),
            "we saw the old red house|and it was really very big");
  EXPECT_EQ(cut("aaaa bbbb cccc dddd eeee ffff", {.max_cost = 20}),
            "aaaa bbbb cccc|dddd eeee ffff");
}

TEST(Clauses, PiecesAreBalancedAndWithinTheLimit) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += i % 7 == 6 ? "word, " : "word ";
  }
  const auto clauses = cut_clauses(text, {.max_cost = 100});
  EXPECT_EQ(clauses.size(), 7U);
  for (const Clause& clause : clauses) {
    EXPECT_LE(clause.end - clause.begin, 100U);
    EXPECT_GE(clause.end - clause.begin, 60U);
  }
}

TEST(Clauses, AWordIsCutOnlyWhereItAloneIsTooLong) {
  EXPECT_EQ(cut("a abcdefghijkl b", {.max_cost = 6}), "a|abcdef|ghijkl|b");
  const std::string accents = "e\u0301e\u0301e\u0301e\u0301";
  for (const Clause& clause : cut_clauses(accents, {.max_cost = 2})) {
    EXPECT_EQ((clause.end - clause.begin) % 3, 0U);
  }
}

TEST(Clauses, TheFirstPieceIsShortWhereThatIsAsked) {
  const std::string_view text =
      "When it rains, we stay at home and read the books that we have bought.";
  EXPECT_EQ(cut(text, {.max_cost = 100, .first_cost = 20}),
            "When it rains,|we stay at home and read the books that we have bought.");
  EXPECT_EQ(cut("We read all books that we bought.", {.max_cost = 100, .first_cost = 18}),
            "We read all books|that we bought.");
  EXPECT_EQ(cut("We read old books every day.", {.max_cost = 100, .first_cost = 18}),
            "We read old books every day.");
  EXPECT_EQ(
      cut("We read old books every day of our lives here.", {.max_cost = 100, .first_cost = 18}),
      "We read old books|every day of our lives here.");
}

TEST(Clauses, ScriptsWithoutSpacesAreCutAtTheirCommas) {
  EXPECT_EQ(cut("\u4f60\u597d\u554a\uff0c\u4f60\u662f\u8c01\u5462", {.max_cost = 5}),
            "\u4f60\u597d\u554a\uff0c|\u4f60\u662f\u8c01\u5462");
}

TEST(Clauses, TheCostIsTheCallersAndAskedOnceAWord) {
  int asked = 0;
  const auto clauses = cut_clauses("one two three four", {.max_cost = 22}, [&](std::string_view) {
    ++asked;
    return size_t{10};
  });
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(clauses.size(), 2U);
}

// Minutes where a piece is measured again for every border.
TEST(Clauses, TwoMegabytesAreCut) {
  for (const std::string_view unit : {"a", "word ", ",", ", ", "\u0301", "\xE2"}) {
    std::string text;
    while (text.size() < test::much(2'000'000)) {
      text += unit;
    }
    size_t end = 0;
    for (const Clause& clause : cut_clauses(text, {.max_cost = 510, .first_cost = 40})) {
      EXPECT_GE(clause.begin, end);
      EXPECT_GT(clause.end, clause.begin);
      end = clause.end;
    }
    EXPECT_GE(end + 2, text.size());
  }
}

}  // namespace
}  // namespace mynah
