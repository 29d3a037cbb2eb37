// When a text is held to repeat itself.
#include "chat/repetition.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mynah {
namespace {

std::string times(int count, std::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

// How often it is told of a text in pieces of that size.
int told(std::string_view text, size_t piece = 5) {
  RepetitionWatch watch;
  int count = 0;
  for (size_t at = 0; at < text.size(); at += piece) {
    count += watch.push(text.substr(at, piece)) ? 1 : 0;
  }
  return count;
}

constexpr std::string_view kSentence =
    "I'm a chatbot designed to help users with their questions and concerns. ";
constexpr std::string_view kOther = "It all began on a morning in spring, with rain. ";

TEST(RepetitionWatch, TellsALoopOnce) {
  for (const size_t piece : {size_t{1}, size_t{5}, size_t{1000}}) {
    EXPECT_EQ(told(std::string(kOther) + times(40, kSentence), piece), 1) << piece;
  }
  EXPECT_EQ(told(times(10, std::string(kSentence) + std::string(kOther))), 1);  // of two sentences
  EXPECT_EQ(told(times(80, "I am sorry. ")), 1);
  EXPECT_EQ(told(times(60, "\xE6\x88\x91\xE6\x98\xAF\xE5\x8A\xA9\xE6\x89\x8B\xE3\x80\x82\n")), 1);
  EXPECT_EQ(told(times(2000, "0, ")), 1);  // few letters, but without an end
}

TEST(RepetitionWatch, IsSilentOfFewTimesAndOfAShortText) {
  EXPECT_EQ(told(times(5, std::string(kSentence) + std::string(kOther) + std::string(kSentence))),
            0);
  EXPECT_EQ(told(times(30, "I am sorry. ")), 0);
  EXPECT_EQ(told(times(6, "Row, row, row your boat\n")), 0);
  EXPECT_EQ(told(times(30, kOther) + "x", 2000), 0);  // what it ends with, not what it had
}

TEST(RepetitionWatch, IsSilentOfListsTablesPoemsAndCode) {
  std::string list;
  std::string tests;
  for (int i = 1; i <= 100; ++i) {
    list += fmt::format("{}. The same thing again, once more.\n", i);
    tests += fmt::format("  EXPECT_EQ(sum({}, {}), {});\n", i, i, i + i);
  }
  EXPECT_EQ(told(list), 0);
  EXPECT_EQ(told(tests), 0);
  EXPECT_EQ(told("| a | b | c |\n" + times(60, "| no | no | yes |\n") + "\n"), 0);
  EXPECT_EQ(told(times(3, "|" + times(20, "------|") + "\n")), 0);
  EXPECT_EQ(told("uint8_t table[] = {\n" + times(32, "    " + times(16, "0x00, ") + "\n") + "};\n"),
            0);
  EXPECT_EQ(told(times(12, "  {\"name\": \"\", \"value\": 0, \"unit\": \"\"},\n")), 0);
  std::string poem;
  for (const char* const line :
       {"down by the river", "up on the hill", "over the meadow", "under the mill",
        "out on the ocean", "home by the fire", "deep in the forest", "high on the spire"}) {
    poem += fmt::format("And there she was singing {},\n{}And the wind, the wind, the wind.\n\n",
                        line, times(4, "Heigh-ho, heigh-ho, the wind and the rain\n"));
  }
  EXPECT_EQ(told(poem), 0);
}

}  // namespace
}  // namespace mynah
