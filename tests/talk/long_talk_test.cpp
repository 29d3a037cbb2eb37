// Eight hours of conversation by the samples' clock: nothing grows, nothing drifts.
#include <gmock/gmock.h>
#include <malloc.h>

#include "talk_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::SizeIs;

constexpr int kHours = 8;
constexpr int kTurnsAnHour = 60;

// Bytes that the program holds; 0 where a sanitizer has the memory.
size_t held_bytes() {
  return ::mallinfo2().uordblks;
}

size_t bytes_of(const ChatRequest::Json& messages) {
  size_t bytes = 0;
  for (const auto& message : messages) {
    bytes += message["content"].get<std::string>().size();
  }
  return bytes;
}

class LongTalkTest : public TalkTest {
 protected:
  // A minute: a question, a reply of some twenty seconds, which each fifth time is interrupted.
  void talk_for_a_minute(int turn) {
    ear_.asked.clear();
    mind_.asked.clear();
    mouth_.spoken.clear();
    mouth_.wishes.clear();
    events_.clear();
    played_.clear();
    const double begin_s = now_s();
    std::string answer;
    for (int number = 0; answer.size() < 2000; ++number) {
      answer += std::to_string(turn) + " is " + std::to_string(number) + ", ";
    }
    mind_.answers = {answer + "and that is all."};
    say("what", 0.4);
    say("time", 0.4);
    const double asked_s = now_s();
    wait(8);
    const bool interrupts = turn % 5 == 4;
    if (interrupts) {
      say("wait", 1);
    }
    wait(60 - (now_s() - begin_s));
    const auto heard = all(Kind::Heard);
    ASSERT_THAT(heard, SizeIs(interrupts ? 2 : 1)) << turn;
    EXPECT_EQ(heard[0].text, "what time") << turn;
    EXPECT_NEAR(seconds_of(heard[0].at) - asked_s, 0.65, 0.1) << turn;
    ASSERT_THAT(all(Kind::Said), SizeIs(interrupts ? 2 : 1)) << turn;
    EXPECT_EQ(all(Kind::Said)[0].interrupted, interrupts) << turn;
    EXPECT_TRUE(conversation_->is_at_rest()) << turn;
    played_total_ += played_.size();
  }

  size_t played_total_ = 0;
};

TEST_F(LongTalkTest, EightHoursKeepNoMoreThanThree) {
  begin();
  size_t after_three_hours = 0;
  size_t longest = 0;
  for (int turn = 0; turn < kHours * kTurnsAnHour && !HasFatalFailure(); ++turn) {
    talk_for_a_minute(turn);
    longest = std::max(longest, bytes_of(conversation_->messages()));
    if (turn == kTurnsAnHour * 3) {  // the record was shortened once by then
      after_three_hours = held_bytes();
    }
  }
  EXPECT_EQ(played_total_, static_cast<size_t>(now_) * kFakeRate_hz / kHearingRate_hz);
  EXPECT_LE(longest, kMostRecorded + 1000);  // and what the system says
  EXPECT_GT(longest, kMostRecorded / 2);
  // The record is as long as it happens to be; beside it there is nothing.
  constexpr size_t kRecord = 2 * kMostRecorded;
  EXPECT_LE(held_bytes(), after_three_hours + kRecord);
}

}  // namespace
}  // namespace mynah::talk
