// A phrase in what recognisers write of it: lines of tiny.en on what our voices said.
#include "speech/wake/wake_phrase.h"

#include <string>

#include <gtest/gtest.h>

namespace mynah {
namespace {

WakePhrase phrase(const std::string& text) {
  auto created = WakePhrase::create(text);
  EXPECT_TRUE(created) << created.error().message;
  return *created;
}

TEST(WakePhrase, IsFoundInWhatIsWrittenForAWordThatNobodyKnows) {
  const WakePhrase mynah = phrase("hey mynah");
  for (const char* heard :
       {"Hey mynah", "Hey, minor.", " Hey, Mina, what time is it?", "A minor.", "Hey, Minnie.",
        "Hey minute, what time is it?", "Hey Minna, what time is it?", "HEY MYNAH!"}) {
    EXPECT_TRUE(mynah.begins(heard)) << heard;
  }
  EXPECT_TRUE(phrase("okay computer").begins("OK, computer. Lights on."));
  EXPECT_TRUE(phrase("hallo \xC3\xA4hre").begins("Hallo \xC3\xA4hre, bitte."));
}

TEST(WakePhrase, IsNotFoundInOtherWords) {
  const WakePhrase mynah = phrase("hey mynah");
  for (const char* heard :
       {"", "...", "Hello there.", "Computer, lights on.", "Turn on the light.", "They came home.",
        "Hey Google", "Amy knows that", "My name is Ann.", "What time is it?"}) {
    EXPECT_FALSE(mynah.begins(heard)) << heard;
  }
}

TEST(WakePhrase, TellsWhatFollows) {
  const std::string heard = "Hey, Mina, what time is it?";
  const auto match = phrase("hey mynah").begins(heard);
  ASSERT_TRUE(match);
  EXPECT_EQ(heard.substr(match->end), ", what time is it?");
}

TEST(WakePhrase, BeginsASentenceAndStandsNotInTheMiddle) {
  const WakePhrase computer = phrase("computer");
  const std::string heard = "It is late. Computer, lights on.";
  const auto match = computer.find(heard);
  ASSERT_TRUE(match);
  EXPECT_EQ(heard.substr(match->end), ", lights on.");
  EXPECT_FALSE(computer.begins(heard));
  EXPECT_FALSE(computer.find("I bought a computer yesterday."));
}

TEST(WakePhrase, TellsWhichSentenceSoundsMostLikeIt) {
  const WakePhrase nabu = phrase("Okay Nabu");
  const std::string heard = "It is late. Okay, Naboo, what is it?";
  const auto match = nabu.nearest(heard);
  ASSERT_TRUE(match);
  EXPECT_EQ(heard.substr(match->end), ", what is it?");
  EXPECT_LT(match->distance, nabu.nearest("Okay, not do.")->distance);
  EXPECT_LT(nabu.nearest("Okay, not do.")->distance, nabu.nearest("Turn on the light.")->distance);
  EXPECT_EQ(nabu.nearest("Okay Nabu.")->distance, 0);
  EXPECT_GT(nabu.nearest("Project really can be done.")->distance, 0.4);
  EXPECT_FALSE(nabu.nearest(" ... "));
  EXPECT_FALSE(nabu.nearest(""));
}

TEST(WakePhrase, IsRefusedWhereEverythingSoundsLikeIt) {
  for (const char* text : {"", "a", "hey", "...", "oh eh"}) {
    EXPECT_FALSE(WakePhrase::create(text)) << text;
  }
}

TEST(WakePhrase, KnowsSoundsRoughly) {
  EXPECT_EQ(rough_sounds("mynah"), "myna");
  EXPECT_EQ(rough_sounds("Phone"), "fon");
  EXPECT_EQ(rough_sounds("Hello"), "helo");
  EXPECT_EQ(rough_sounds("quick"), "kuk");
  EXPECT_EQ(rough_sounds("cease"), "ses");
  EXPECT_EQ(rough_sounds("--'"), "");
}

}  // namespace
}  // namespace mynah
