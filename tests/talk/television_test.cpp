// Another voice behind the user, who is louder.
#include <gmock/gmock.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// WordEar's words are as loud as they are late in its list: "hello" is 18 dB below "time", which
// somebody says to whom a television that says "hello" all the time is nothing.
class TelevisionTest : public TalkTest {
 protected:
  void television(double seconds) { say("hello", seconds); }
};

TEST_F(TelevisionTest, ATurnEndsThoughAnotherVoiceGoesOn) {
  begin();
  television(0.1);
  say("time", 2);
  const double ended_s = now_s();
  television(6);
  ASSERT_THAT(all(Kind::Heard), SizeIs(1));
  EXPECT_THAT(texts(Kind::Heard)[0], StartsWith("hello time"));
  EXPECT_LE(seconds_of(all(Kind::Heard)[0].at) - ended_s, 2);
  EXPECT_THAT(texts(Kind::Said), ElementsAre("All right."));
}

TEST_F(TelevisionTest, WhatGoesOnNeitherInterruptsNorIsReplied) {
  mind_.answer = "It is noon, and so it is time for a long rest, and for some soup before that.";
  begin();
  say("time", 2);
  television(6);
  wait(0.4);
  television(6);
  EXPECT_THAT(all(Kind::Held), IsEmpty());
  ASSERT_THAT(all(Kind::Said), SizeIs(1));
  EXPECT_FALSE(all(Kind::Said)[0].interrupted);
  EXPECT_THAT(all(Kind::Heard), SizeIs(1));
}

TEST_F(TelevisionTest, WhoHadTheTurnIsHeardAgainOverIt) {
  begin();
  say("time", 2);
  television(5);
  say("what", 1);
  television(4);
  const auto heard = texts(Kind::Heard);
  ASSERT_THAT(heard, SizeIs(2));
  // From before the first of it on.
  EXPECT_THAT(heard[1], StartsWith("hello what"));
  EXPECT_THAT(texts(Kind::Said), SizeIs(2));
}

TEST_F(TelevisionTest, WhoInterruptsBesideItStopsTheReply) {
  std::string answer;
  for (int number = 0; number < 100; ++number) {
    answer += std::to_string(number) + " bells, ";
  }
  mind_.answers = {answer + "it rang."};
  begin();
  say("time", 2);
  television(4);
  say("what", 1);
  television(4);
  ASSERT_THAT(all(Kind::Said), SizeIs(2));
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
  EXPECT_THAT(all(Kind::Heard), SizeIs(2));
}

TEST_F(TelevisionTest, BehindItsSilenceAnybodyMaySpeak) {
  begin();
  say("time", 2);
  television(4);
  wait(6);
  say("hello", 0.5);
  wait(2);
  EXPECT_THAT(texts(Kind::Heard).back(), "hello");
  EXPECT_THAT(all(Kind::Heard), SizeIs(2));
}

TEST_F(TelevisionTest, AVoiceThatFallsForAMomentIsTheSame) {
  begin();
  say("time", 1);
  say("hello", 0.5);
  say("time", 1);
  wait(2);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("time hello time"));
}

}  // namespace
}  // namespace mynah::talk
