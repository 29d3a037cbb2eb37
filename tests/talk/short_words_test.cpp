#include "talk/turns/short_words.h"

#include <gtest/gtest.h>

namespace mynah::talk {
namespace {

TEST(ShortWords, StopIsStopWithAnyMarks) {
  for (const char* text :
       {"Stop.", "stop, stop!", "Okay, stop it.", "Please stop", "That's enough!"}) {
    EXPECT_EQ(said_over(text, "en"), SaidOver::Stop) << text;
  }
  EXPECT_EQ(said_over("Hör auf!", "de"), SaidOver::Stop);
  EXPECT_EQ(said_over("やめて。", "ja"), SaidOver::Stop);
  EXPECT_EQ(said_over("Arrête.", "fr"), SaidOver::Stop);
}

TEST(ShortWords, AWordThatGoesOnIsAQuestion) {
  EXPECT_EQ(said_over("Stop the music in the kitchen.", "en"), SaidOver::Words);
  EXPECT_EQ(said_over("Yes, but why?", "en"), SaidOver::Words);
  EXPECT_EQ(said_over("Stopp die Musik", "de"), SaidOver::Words);
}

TEST(ShortWords, WhoListensSaysSo) {
  for (const char* text : {"Mhm.", "Mm-hmm.", "Yeah, okay.", "Uh-huh", "I see.", "Right!"}) {
    EXPECT_EQ(said_over(text, "en"), SaidOver::Listening) << text;
  }
  EXPECT_EQ(said_over("Ja, genau.", "de"), SaidOver::Listening);
  EXPECT_EQ(said_over("うん。", "ja"), SaidOver::Listening);
}

TEST(ShortWords, NothingIsNothing) {
  EXPECT_EQ(said_over("", "en"), SaidOver::Nothing);
  EXPECT_EQ(said_over(" ... ", "en"), SaidOver::Nothing);
}

TEST(ShortWords, AnUnknownLanguageHasTheWordsOfAll) {
  EXPECT_EQ(said_over("Basta!", ""), SaidOver::Stop);
  EXPECT_EQ(said_over("Mhm", "sw"), SaidOver::Listening);
}

TEST(ShortWords, MarksAndCapitalsMakeNoDifference) {
  EXPECT_TRUE(says_the_same("What time is it?", "what time is it"));
  EXPECT_FALSE(says_the_same("What time is it?", "What time was it?"));
}

}  // namespace
}  // namespace mynah::talk
