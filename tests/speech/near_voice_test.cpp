// Who interrupts, by what a detector and a canceller say, and what is only the machine's own voice.
#include "speech/near_voice.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "speech/own_words.h"

namespace mynah {
namespace {

// A voice that is heard well beside something that is played.
constexpr NearVoice::Frame kBeside{.ms = 32,
                                   .probability = 0.9F,
                                   .level_db = -30,
                                   .far_active = true,
                                   .settled = true,
                                   .excess_db = 15};

// Frames until somebody speaks; 0: never in two seconds.
int frames_until(NearVoice& voice, const NearVoice::Frame& frame) {
  for (int i = 1; i <= 62; ++i) {
    if (voice.push(frame)) {
      return i;
    }
  }
  return 0;
}

TEST(NearVoice, HearsSomebodyWithinASixthOfASecond) {
  NearVoice voice{{}};
  EXPECT_EQ(frames_until(voice, kBeside), 5);  // 160 ms
  EXPECT_TRUE(voice.speaking());
}

TEST(NearVoice, IsNotInterruptedByAnEchoThatSoundsLikeAVoice) {
  NearVoice voice{{}};
  NearVoice::Frame echo = kBeside;
  echo.excess_db = 7.9;
  echo.probability = 1;
  EXPECT_EQ(frames_until(voice, echo), 0);
  echo.excess_db = 11.9;
  echo.probability = 0.79F;
  EXPECT_EQ(frames_until(voice, echo), 0);
}

TEST(NearVoice, IsNotInterruptedByALoudSoundThatIsNoVoice) {
  NearVoice voice{{}};
  NearVoice::Frame noise = kBeside;
  noise.probability = 0.49F;
  noise.excess_db = 30;
  EXPECT_EQ(frames_until(voice, noise), 0);
}

TEST(NearVoice, WaitsUntilTheRoomIsKnownUnlessNothingIsHeardOfWhatIsPlayed) {
  NearVoice voice{{}};
  NearVoice::Frame early = kBeside;
  early.settled = false;
  EXPECT_EQ(frames_until(voice, early), 0);
  early.inaudible = true;
  early.excess_db = 0;
  EXPECT_EQ(frames_until(voice, early), 3);
}

TEST(NearVoice, HearsAVoiceAloneAtTheDetectorsWord) {
  NearVoice voice{{}};
  const NearVoice::Frame alone{.probability = 0.6F, .level_db = -40};
  EXPECT_EQ(frames_until(voice, alone), 3);
  voice.reset();
  EXPECT_FALSE(voice.speaking());
  const NearVoice::Frame far_away{.probability = 0.9F, .level_db = -61};
  EXPECT_EQ(frames_until(voice, far_away), 0);
}

TEST(NearVoice, TakesAWordWithGapsForOne) {
  NearVoice voice{{}};
  NearVoice::Frame gap = kBeside;
  gap.probability = 0;
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(voice.push(kBeside)) << i;
  }
  EXPECT_TRUE(voice.push(kBeside));
  // A third of a second without a frame that counts: it has ended.
  for (int i = 0; i < 9; ++i) {
    EXPECT_TRUE(voice.push(gap)) << i;
  }
  EXPECT_FALSE(voice.push(gap));
}

TEST(OwnWords, AreWhatIsPlayedWithARecognisersErrors) {
  constexpr const char* kPlayed =
      "She will lead the way to the lead mine near Lead Belly's old home.";
  for (const char* heard :
       {"she will lead the way", "Lead the way to the led mine.", "lead mind near led belly",
        "She will lead the way to the lead mine near Lead Belly's old home"}) {
    EXPECT_TRUE(own_words(heard, kPlayed).is_own) << heard;
  }
}

TEST(OwnWords, AreNotWhatSomebodyElseSays) {
  constexpr const char* kPlayed =
      "You can stop the timer by saying stop. There are three timers, and the first ends at noon.";
  for (const char* heard :
       {"stop", "no, stop the music please", "how many timers do I have", "the first",
        "what about the one in the kitchen", "and who is there", ""}) {
    if (std::string_view(heard) == "the first") {
      // Two words of what is being said, in its order, and no other: its own, as far as one can
      // know.
      EXPECT_TRUE(own_words(heard, kPlayed).is_own);
    } else {
      EXPECT_FALSE(own_words(heard, kPlayed).is_own) << heard;
    }
  }
}

TEST(OwnWords, WantTheirOrder) {
  constexpr const char* kPlayed = "red blue green white black brown grey pink gold silver";
  EXPECT_TRUE(own_words("green white black brown", kPlayed).is_own);
  EXPECT_FALSE(own_words("brown white gold blue", kPlayed).is_own);
  const OwnWords mixed = own_words("green white wait a moment please", kPlayed);
  EXPECT_EQ(mixed.own, 2U);
  EXPECT_EQ(mixed.heard, 6U);
  EXPECT_FALSE(mixed.is_own);
}

TEST(OwnWords, OfNothingPlayedAreNone) {
  EXPECT_FALSE(own_words("hello there you two", "").is_own);
  EXPECT_FALSE(own_words("", "").is_own);
}

TEST(OwnWords, AreCharactersWhereWordsHaveNoSpaces) {
  EXPECT_TRUE(own_words("今日は天気", "今日は天気がいいですね", "ja").is_own);
  EXPECT_FALSE(own_words("音楽を止めて", "今日は天気がいいですね", "ja").is_own);
}

// Whatever the bytes are.
TEST(OwnWords, TakeTextThatIsNoUtf8) {
  const std::string broken("\xff\xfe lead \x80 the \xc3", 16);
  EXPECT_FALSE(own_words(broken, broken.substr(0, 3)).is_own);
  EXPECT_EQ(own_words(std::string(3000, 'a'), "b").own, 0U);
}

}  // namespace
}  // namespace mynah
