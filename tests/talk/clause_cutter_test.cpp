#include "talk/loop/clause_cutter.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> pieces_of(std::string_view text, size_t step) {
  ClauseCutter cutter("en");
  std::vector<std::string> pieces;
  const auto take = [&](const std::vector<SpokenPiece>& found) {
    for (const SpokenPiece& piece : found) {
      pieces.push_back(piece.text);
    }
  };
  for (size_t at = 0; at < text.size(); at += step) {
    take(cutter.push(text.substr(at, step)));
  }
  take(cutter.finish());
  return pieces;
}

TEST(ClauseCutter, TheFirstPieceEndsAtAClauseAndTheOthersAtSentences) {
  EXPECT_THAT(pieces_of("Well, if you ask me, it is late. You should go, now. Bye!", 3),
              ElementsAre("Well, if you ask me,", "it is late.", "You should go, now.", "Bye!"));
}

TEST(ClauseCutter, AShortSentenceIsOnePiece) {
  EXPECT_THAT(pieces_of("Yes. It is, I think, four.", 1),
              ElementsAre("Yes.", "It is, I think, four."));
}

TEST(ClauseCutter, ALongBeginningWithoutAMarkEndsBetweenTwoWords) {
  const auto pieces = pieces_of(
      "The capital of the country that you asked me about yesterday evening is Paris. Yes.", 5);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0] + " " + pieces[1],
            "The capital of the country that you asked me about yesterday evening is Paris.");
  EXPECT_LE(pieces[0].size(), 48U);
}

TEST(ClauseCutter, MarkdownIsNotSpokenAndABytesPlaceIsThatOfTheReply) {
  const std::string reply = "# Hi\n\n**Bold** words, and `code`.\n\n- one\n- two\n";
  ClauseCutter cutter("en");
  auto pieces = cutter.push(reply);
  std::ranges::move(cutter.finish(), std::back_inserter(pieces));
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[0].text, "Hi");
  EXPECT_EQ(pieces[0].behind, SpokenPiece::Behind::Paragraph);
  EXPECT_EQ(pieces[1].text, "Bold words, and code.");
  const size_t bold = cutter.reply_bytes(pieces[1].begin + std::string("Bold").size());
  EXPECT_EQ(reply.substr(0, bold), "# Hi\n\n**Bold");
  EXPECT_EQ(cutter.reply_bytes(0), 0U);
}

TEST(ClauseCutter, PushingInAnyPiecesSpeaksTheSameWords) {
  const std::string text =
      "Of course: **here** is what I know, in short. It costs $5.20 at Dr. Lee's. Fine? See "
      "[there](http://x.y).";
  const auto joined = [](const std::vector<std::string>& pieces) {
    std::string all;
    for (const std::string& piece : pieces) {
      all += (all.empty() ? "" : " ") + piece;
    }
    return all;
  };
  const std::string whole = joined(pieces_of(text, text.size()));
  for (const size_t step : {1U, 2U, 7U, 30U}) {
    EXPECT_EQ(joined(pieces_of(text, step)), whole) << step;
  }
}

}  // namespace
}  // namespace mynah::talk
