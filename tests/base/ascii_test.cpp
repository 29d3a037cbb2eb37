#include "base/ascii.h"

#include <cctype>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

static_assert(is_ascii_digit('7') && is_ascii_letter(U'q') && !is_ascii_letter(U'\u00E9'));
static_assert(ascii_lower('Q') == 'q' && ascii_upper(U'q') == U'Q');
static_assert(equal_but_for_case("Q1", "q1") && trimmed(" a b ") == "a b");

// The tests run in the "C" locale.
TEST(Ascii, HasTheClassesAndTheCaseOfTheLibraryInTheCLocale) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_EQ(is_ascii_digit(c), std::isdigit(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_upper(c), std::isupper(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_lower(c), std::islower(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_letter(c), std::isalpha(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_alnum(c), std::isalnum(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_space(c), std::isspace(byte) != 0) << byte;
    EXPECT_EQ(is_ascii_space(c), kAsciiSpace.contains(c)) << byte;
    EXPECT_EQ(is_small_hex_digit(c), std::isxdigit(byte) != 0 && std::isupper(byte) == 0) << byte;
    EXPECT_EQ(ascii_lower(c), static_cast<char>(std::tolower(byte))) << byte;
    EXPECT_EQ(ascii_upper(c), static_cast<char>(std::toupper(byte))) << byte;
  }
}

TEST(Ascii, CodePointsBeyondItAreOfNoClass) {
  for (const char32_t c : {U'\u0660', U'\u00C9', U'\u00E9', U'\u00A0', U'\uFF11', U'\U0001D7CE'}) {
    EXPECT_FALSE(is_ascii_alnum(c) || is_ascii_space(c) || is_small_hex_digit(c));
    EXPECT_EQ(ascii_lower(c), c);
    EXPECT_EQ(ascii_upper(c), c);
  }
}

TEST(Ascii, TextsChangeTheirCaseButForOtherLetters) {
  EXPECT_EQ(ascii_lower("\u00C9COLE N\u00B0 1"), "\u00C9cole n\u00B0 1");
  EXPECT_EQ(ascii_upper("\u00E9cole"), "\u00E9COLE");
  EXPECT_EQ(ascii_lower(""), "");
}

TEST(Ascii, TextsCompareWithoutTheirCase) {
  EXPECT_TRUE(equal_but_for_case("BF16", "bf16"));
  EXPECT_TRUE(equal_but_for_case("", ""));
  EXPECT_FALSE(equal_but_for_case("\u00C9", "\u00E9"));
  EXPECT_FALSE(equal_but_for_case("bf16", "bf1"));
  EXPECT_FALSE(equal_but_for_case("[", "{"));  // letters' distance apart, and no letters
  EXPECT_TRUE(starts_with_but_for_case("HTTPS://host", "https:"));
  EXPECT_FALSE(starts_with_but_for_case("http", "https"));
  EXPECT_TRUE(ends_with_but_for_case("TALK.SRT", ".srt"));
  EXPECT_FALSE(ends_with_but_for_case("srt", ".srt"));
}

TEST(Ascii, DigitsAreOneAtLeastAndNothingElse) {
  EXPECT_TRUE(is_ascii_digits("007"));
  EXPECT_FALSE(is_ascii_digits(""));
  EXPECT_FALSE(is_ascii_digits("+7"));
  EXPECT_FALSE(is_ascii_digits("7 "));
}

TEST(Ascii, TrimmingTakesBlanksFromBothEndsAndLeavesThoseInside) {
  EXPECT_EQ(trimmed(" \t\n\v\f\ra \n b\r\n"), "a \n b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed("\u00A0a"), "\u00A0a");
}

TEST(Ascii, TrimmingTakesOnlyTheBlanksAskedFor) {
  EXPECT_EQ(trimmed(" \ta\n ", " \t"), "a\n");
  EXPECT_EQ(trimmed("\t a \r", " "), "\t a \r");
}

TEST(Ascii, SplittingKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Ascii, WordsAreNeverEmpty) {
  EXPECT_THAT(split_words("  a  b "), ElementsAre("a", "b"));
  EXPECT_THAT(split_words("a..b", '.'), ElementsAre("a", "b"));
  EXPECT_THAT(split_words("   "), IsEmpty());
}

}  // namespace
}  // namespace mynah
