// Patterns of pre-tokenizers: what they find, what is no pattern, and how many looks it takes.
#include "text/tokenizer/splitter.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/pretokenizer.h"

namespace mynah {
namespace {

using testing::ElementsAre;

std::vector<std::string> pieces(std::string_view pattern, std::string_view text,
                                std::string_view skip = "") {
  const auto splitter = Splitter::create(pattern, skip);
  EXPECT_TRUE(splitter) << splitter.error().message;
  std::vector<std::string> found;
  if (splitter) {
    splitter->split(text, [&](std::string_view piece) { found.emplace_back(piece); });
  }
  return found;
}

TEST(Splitter, TakesTheAlternativeThatIsWrittenFirst) {
  EXPECT_THAT(pieces("a|ab", "abab"), ElementsAre("a", "b", "a", "b"));
  EXPECT_THAT(pieces("ab|a", "aba"), ElementsAre("ab", "a"));
  EXPECT_THAT(pieces("a+|b", "aabaa"), ElementsAre("aa", "b", "aa"));
}

TEST(Splitter, RepeatsAsOftenAsItMay) {
  EXPECT_THAT(pieces("[0-9]{1,3}", "1234567"), ElementsAre("123", "456", "7"));
  EXPECT_THAT(pieces("[0-9]{3}", "1234567"), ElementsAre("123", "456", "7"));
  EXPECT_THAT(pieces("x?y*z", "xyyzzy"), ElementsAre("xyyz", "z", "y"));
  EXPECT_THAT(pieces("(?:ab)+", "ababa"), ElementsAre("abab", "a"));
}

TEST(Splitter, LeavesTheLastSpaceToTheWordBehind) {
  EXPECT_THAT(pieces(" ?\\p{L}+|\\s+(?!\\S)|\\s+", "a   b  "), ElementsAre("a", "  ", " b", "  "));
}

TEST(Splitter, KnowsTheEndAndWhatItPassesOver) {
  EXPECT_THAT(pieces("\\s+$", "a  b  "), ElementsAre("a  b", "  "));
  EXPECT_THAT(pieces("\\s+$", "a  b  ", "\\s+"), ElementsAre("a  b", "  "));
}

TEST(Splitter, KnowsSetsAndCase) {
  EXPECT_THAT(pieces("[^\\s\\p{L}]+", "a1!\u00e9 2"), ElementsAre("a", "1!", "\u00e9 ", "2"));
  EXPECT_THAT(pieces("(?i:'ll)", "I'Ll'lL"), ElementsAre("I", "'Ll", "'lL"));
  EXPECT_THAT(pieces("[\\x{4E00}-\\x{9FFF}]+", "a\u4e00\u9fffb"),
              ElementsAre("a", "\u4e00\u9fff", "b"));
  EXPECT_THAT(pieces("[\\p{Lu}\\p{Nd}]", "aB3\u00bd"), ElementsAre("a", "B", "3", "\u00bd"));
}

TEST(Splitter, TakesABrokenByteForASymbol) {
  EXPECT_THAT(pieces("[^\\s\\p{L}\\p{N}]+|\\p{L}+", "a\xff\xe4\xb8z"),
              ElementsAre("a", "\xff\xe4\xb8", "z"));
}

TEST(Splitter, RefusesWhatIsNoPattern) {
  for (const std::string_view pattern :
       {"(?:a", "a)", "[a", "a{2", "a{3,2}", "a{5000}", "\\p{Xx}", "\\p{L", "[b-a]", "\\x{110000}",
        "\\x{zz}", "\\", "\\d", "\xff"}) {
    EXPECT_FALSE(Splitter::create(pattern)) << pattern;
  }
}

TEST(PreTokenizers, AreAllRead) {
  const auto names = PreTokenizer::names();
  EXPECT_GE(names.size(), 60U);
  for (const std::string_view name : names) {
    const auto pretokenizer = PreTokenizer::create(name);
    ASSERT_TRUE(pretokenizer) << pretokenizer.error().message;
  }
  const auto unknown = PreTokenizer::create("gpt-17");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("gpt-17"));
}

std::vector<std::string> pieces_by_name(std::string_view name, std::string_view text) {
  const auto pretokenizer = PreTokenizer::create(name);
  EXPECT_TRUE(pretokenizer) << pretokenizer.error().message;
  std::vector<std::string> found;
  if (pretokenizer) {
    pretokenizer->split(text, [&](std::string_view piece) { found.emplace_back(piece); });
  }
  return found;
}

TEST(PreTokenizers, MayTakeDigitsInThreesFromTheLast) {
  EXPECT_THAT(pieces_by_name("afmoe", "in 1234567 or 123, 12"),
              ElementsAre("in", " ", "1", "234", "567", " or", " ", "123", ",", " ", "12"));
}

TEST(PreTokenizers, MayTakeWhiteSpaceInPowersOfTwo) {
  EXPECT_THAT(pieces_by_name("jais-2", "a" + std::string(13, ' ') + "b"),
              ElementsAre("a", std::string(8, ' '), std::string(4, ' '), " b"));
}

// What would be slow if a piece were looked for again in what was looked at: long runs of one kind,
// whole or broken by another at their end.
TEST(PreTokenizers, LookAtEachCodePointAFewTimesAlone) {
  constexpr size_t kLength = 2000;
  std::vector<std::string> texts;
  for (const std::string_view unit :
       {"a", "A", " ", "\n", "\t", "7", "!", "'", "\u4e00", "\u0301", "\xff", "\xf0\x9f", " \n",
        "a ", "aA", "' ", "7a", "\u3000"}) {
    std::string run;
    while (run.size() < kLength) {
      run += unit;
    }
    texts.push_back(run);
    texts.push_back(run + "x");
    texts.push_back(run + "\U0001F600");
    texts.push_back(run + "\n!");
  }
  for (const std::string_view name : PreTokenizer::names()) {
    const auto pretokenizer = PreTokenizer::create(name);
    ASSERT_TRUE(pretokenizer);
    for (const std::string& text : texts) {
      std::string joined;
      const size_t steps =
          pretokenizer->split(text, [&](std::string_view piece) { joined += piece; });
      EXPECT_EQ(joined, text) << name;
      // A look at what follows a piece each pass, of which there are at most six; the white space
      // behind a line's end is looked at twice.
      EXPECT_LE(steps, 20 * text.size()) << name << ": " << text.substr(0, 8);
    }
  }
}

}  // namespace
}  // namespace mynah
