// Somebody speaks over the assistant.
#include <gmock/gmock.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class InterruptionTest : public TalkTest {
 protected:
  // Letters sound for 10 ms: a word of nine with the space behind it a tenth of a second.
  void begin_speech(TalkSettings settings = {}) {
    workers_.takes[0] = samples_of(0.12);
    mind_.answers = {
        "aaaaaaaa1 bbbbbbbb2 cccccccc3 dddddddd4 eeeeeeee5 ffffffff6 gggggggg7 hhhhhhhh8 "
        "iiiiiiii9 jjjjjjj10 kkkkkkk11 lllllll12 mmmmmmm13 nnnnnnn14 ooooooo15 ppppppp16 "
        "qqqqqqq17 rrrrrrr18 sssssss19 ttttttt20 uuuuuuu21 vvvvvvv22."};
    begin(std::move(settings));
    say("hello");
    wait(0.6);
    while (all(Kind::Replies).empty() && now_s() < 10) {
      wait(0.01);
    }
    wait(0.5);
    onset_s_ = now_s();
  }

  double onset_s_ = 0;
};

TEST_F(InterruptionTest, SpeechIsSilentSoonAfterSomebodyBegins) {
  begin_speech();
  say("wait", 0.3);
  const auto held = all(Kind::Held);
  ASSERT_EQ(held.size(), 1U);
  EXPECT_LE(seconds_of(held[0].at) - onset_s_, 0.2);
  EXPECT_FALSE(sounds(seconds_of(held[0].at) + 0.02, now_s()));
}

TEST_F(InterruptionTest, WordsStopItForGoodAndWhatWasPlayedIsWhatWasSaid) {
  begin_speech();
  say("wait", 0.3);
  say("what", 0.3);
  say("time", 0.3);
  wait(4);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello", "wait what time"));
  const auto said = all(Kind::Said);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said[0].interrupted);
  // Half a second before the onset and a tenth or two behind it, of words of a tenth each.
  EXPECT_THAT(said[0].text, ::testing::StartsWith("aaaaaaaa1 bbbbbbbb2 cccccccc3 dddddddd4"));
  EXPECT_LE(said[0].text.size(), std::string("aaaaaaaa1 ").size() * 8);
  EXPECT_TRUE(is_ascii_digit(said[0].text.back())) << "it ends with a whole word: " << said[0].text;
  EXPECT_FALSE(said[1].interrupted);
  EXPECT_THAT(record(), ElementsAre("user: hello", "assistant: " + said[0].text,
                                    "user: wait what time", "assistant: All right."));
}

TEST_F(InterruptionTest, AShortWordThatIsHeardStopsItToo) {
  begin_speech();
  say("wait", 0.25);
  wait(3);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello", "wait"));
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
}

TEST_F(InterruptionTest, AfterMhmItGoesOnFromTheWordWhereItStopped) {
  begin_speech();
  say("mhm", 0.3);
  wait(4);
  ASSERT_EQ(all(Kind::Held).size(), 1U);
  ASSERT_EQ(all(Kind::WentOn).size(), 1U);
  EXPECT_LE(all(Kind::WentOn)[0].at - all(Kind::Held)[0].at, samples_of(0.7));
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello"));
  EXPECT_FALSE(all(Kind::Said)[0].interrupted);
  // Every word is there, in order, whole; one of them begins twice.
  std::vector<int> words;
  for (size_t at = 0, end = 0; at < played_.size(); at = end) {
    end = at + 1;
    while (end < played_.size() && played_[end] == played_[at]) {
      ++end;
    }
    const int word = static_cast<int>(std::lround(played_[at] * 1000));
    const bool fades = end - at < LetterMouth::kLetter;
    if (word != 0 && !fades && (words.empty() || words.back() != word)) {
      words.push_back(word);
    }
  }
  std::vector<int> expected(22);
  std::ranges::generate(expected, [n = 0]() mutable { return ++n; });
  EXPECT_EQ(words, expected);
}

TEST_F(InterruptionTest, AListenersWordThatIsDrawnOutStopsNothing) {
  begin_speech();
  say("mhm", 1);
  wait(4);
  ASSERT_EQ(all(Kind::WentOn).size(), all(Kind::Held).size());
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello"));
  EXPECT_FALSE(all(Kind::Said)[0].interrupted);
}

TEST_F(InterruptionTest, WordsBehindAListenersWordStopIt) {
  begin_speech();
  say("mhm", 0.8);
  say("wait", 0.3);
  wait(3);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello", "mhm wait"));
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
}

TEST_F(InterruptionTest, AKnockHoldsNothing) {
  begin_speech();
  say("", 0.04);
  wait(3);
  EXPECT_THAT(all(Kind::Held), IsEmpty());
  EXPECT_FALSE(all(Kind::Said)[0].interrupted);
}

TEST_F(InterruptionTest, ACoughOfHalfASecondIsWaitedForNoLongerThanSevenTenths) {
  begin_speech();
  workers_.takes[0] = samples_of(1.5);  // the ear is slow: nothing is known of the words
  say("", 0.4);
  wait(4);
  ASSERT_EQ(all(Kind::Held).size(), 1U);
  ASSERT_EQ(all(Kind::WentOn).size(), 1U);
  EXPECT_LE(all(Kind::WentOn)[0].at - all(Kind::Held)[0].at, samples_of(0.71));
  EXPECT_FALSE(all(Kind::Said)[0].interrupted);
}

TEST_F(InterruptionTest, SevenTenthsOfSpeechStopItWhateverTheEarSays) {
  begin_speech();
  workers_.takes[0] = samples_of(5);
  say("wait", 0.9);
  ASSERT_EQ(all(Kind::Said).size(), 1U);
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
  EXPECT_LE(seconds_of(all(Kind::Said)[0].at) - onset_s_, 0.78);
}

TEST_F(InterruptionTest, StopIsNoQuestion) {
  begin_speech();
  say("stop", 0.35);
  wait(3);
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
  EXPECT_FALSE(sounds(onset_s_ + 0.3, now_s()));
  EXPECT_EQ(mind_.asked.size(), 1U);
  EXPECT_THAT(record(), ElementsAre("user: hello", "assistant: " + all(Kind::Said)[0].text));
}

TEST_F(InterruptionTest, WhileTheEchoCancellerLearnsWordsAloneInterrupt) {
  begin_speech({.echo_settles_s = 3});
  capture(ear_.sample_of(""), 0.9);
  wait(0.3);
  EXPECT_THAT(all(Kind::Held), IsEmpty());
  EXPECT_THAT(all(Kind::Said), IsEmpty());
  say("wait", 0.5);
  wait(0.3);
  ASSERT_EQ(all(Kind::Said).size(), 1U);
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
}

TEST_F(InterruptionTest, WhoGoesOnBeforeTheReplySoundsIsRepliedToInAll) {
  workers_.takes[static_cast<size_t>(Organ::Mind)] = samples_of(2);
  begin();
  say("hello");
  wait(0.9);
  ASSERT_THAT(texts(Kind::Heard), ElementsAre("hello"));
  say("there");
  wait(5);
  EXPECT_THAT(texts(Kind::Heard), ElementsAre("hello", "there"));
  EXPECT_THAT(record(), ElementsAre("user: hello\nthere", "assistant: All right."));
  EXPECT_THAT(mouth_.spoken, ElementsAre("All right."));
}

TEST_F(InterruptionTest, AKeyStopsIt) {
  begin_speech();
  conversation_->stop_speaking();
  const double stopped_s = now_s();
  wait(2);
  EXPECT_FALSE(sounds(stopped_s, now_s()));
  EXPECT_TRUE(all(Kind::Said)[0].interrupted);
}

}  // namespace
}  // namespace mynah::talk
