#include "server/hear/heard_once.h"

#include <atomic>
#include <latch>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mynah::server {
namespace {

using From = HeardOnce::From;

Segment segment(const std::string& text) {
  Segment one;
  one.text = text;
  return one;
}

// What somebody was told.
class Ear final : public RecognizerObserver {
 public:
  void on_segment(size_t /*job*/, const Segment& one) override {
    text += one.text;
    if (first != nullptr && text == one.text) {
      first->count_down();
    }
  }

  void on_done(size_t /*job*/, const Result<Transcript>& told) override { result = told; }

  std::latch* first = nullptr;  // told of the first segment
  std::string text;
  Result<Transcript> result = fail(ErrorCode::Cancelled, "nothing was told");
  From from{};
};

// Says "a" and "b" and ends well.
struct Speaker {
  void operator()(RecognizerObserver& observer, const std::stop_token& /*stop*/) {
    ++times;
    observer.on_segment(0, segment("a"));
    observer.on_segment(0, segment("b"));
    observer.on_done(0, Transcript{.segments = {segment("a"), segment("b")}});
  }

  int times = 0;
};

TEST(HeardOnce, WhoAsksMeanwhileIsToldAllOfIt) {
  HeardOnce once;
  std::latch both(2);
  std::atomic<int> times{0};
  const auto hear = [&](RecognizerObserver& observer, const std::stop_token& /*stop*/) {
    ++times;
    observer.on_segment(0, segment("a"));
    both.wait();  // until another was told that
    observer.on_segment(0, segment("b"));
    observer.on_done(0, Transcript{.segments = {segment("a"), segment("b")}});
  };
  Ear ears[2];
  {
    std::vector<std::jthread> threads;
    for (Ear& ear : ears) {
      ear.first = &both;
      threads.emplace_back([&] { once.hear("key", hear, ear, {}, ear.from); });
    }
  }
  EXPECT_EQ(times, 1);
  EXPECT_NE(ears[0].from, ears[1].from);
  for (const Ear& ear : ears) {
    EXPECT_EQ(ear.text, "ab");
    ASSERT_TRUE(ear.result) << ear.result.error().message;
    EXPECT_EQ(ear.result->segments.size(), 2U);
    EXPECT_NE(ear.from, From::Kept);
  }
}

TEST(HeardOnce, ALeavingClientStopsNoOther) {
  HeardOnce once;
  std::latch told(1);
  std::latch left(1);
  std::stop_source leaves;
  Ear leaving;
  Ear staying;
  staying.first = &told;
  const auto hear = [&](RecognizerObserver& observer, const std::stop_token& stop) {
    observer.on_segment(0, segment("a"));
    told.wait();  // the other waits, too
    leaves.request_stop();
    EXPECT_FALSE(stop.stop_requested());
    left.count_down();
    observer.on_done(0, Transcript{.segments = {segment("a")}});
  };
  std::latch begun(1);
  leaving.first = &begun;
  std::jthread first([&] { once.hear("key", hear, leaving, leaves.get_token(), leaving.from); });
  begun.wait();
  once.hear("key", hear, staying, {}, staying.from);
  first.join();
  EXPECT_EQ(staying.from, From::AnotherHears);
  EXPECT_TRUE(staying.result);
  EXPECT_FALSE(leaving.result);
}

TEST(HeardOnce, TheLastWhoLeavesEndsIt) {
  HeardOnce once;
  std::stop_source leave_first;
  std::stop_source leave_second;
  std::latch begun(1);
  std::latch told(1);
  Ear first;
  first.first = &begun;
  Ear second;
  second.first = &told;
  std::binary_semaphore stopped(0);
  const auto hear = [&](RecognizerObserver& observer, const std::stop_token& stop) {
    observer.on_segment(0, segment("a"));
    const std::stop_callback on_stop(stop, [&] { stopped.release(); });
    stopped.acquire();
    observer.on_done(0, fail(ErrorCode::Cancelled, "stopped"));
  };
  std::jthread one([&] { once.hear("key", hear, first, leave_first.get_token(), first.from); });
  begun.wait();
  std::jthread other(
      [&] { once.hear("key", hear, second, leave_second.get_token(), second.from); });
  told.wait();
  leave_first.request_stop();
  leave_second.request_stop();
  one.join();
  other.join();
  EXPECT_FALSE(first.result);
  EXPECT_FALSE(second.result);
  // Who comes then has it heard anew.
  Speaker speaker;
  Ear later;
  once.hear("key", speaker, later, {}, later.from);
  EXPECT_EQ(later.from, From::Heard);
  EXPECT_TRUE(later.result);
}

TEST(HeardOnce, ATextIsKeptForAWhile) {
  HeardOnce::Clock::time_point now{};
  HeardOnce once({.kept = std::chrono::minutes(10), .most_bytes = size_t{1} << 20},
                 [&now] { return now; });
  Speaker speaker;
  const auto ask = [&](const std::string& key) {
    Ear ear;
    once.hear(key, speaker, ear, {}, ear.from);
    EXPECT_EQ(ear.text, "ab");
    return ear.from;
  };
  EXPECT_EQ(ask("key"), From::Heard);
  EXPECT_EQ(ask("another"), From::Heard);
  now += std::chrono::minutes(9);
  EXPECT_EQ(ask("key"), From::Kept);
  now += std::chrono::minutes(1);
  EXPECT_EQ(ask("key"), From::Heard);
  EXPECT_EQ(speaker.times, 3);
}

TEST(HeardOnce, ErrorsAndTooMuchAreNotKept) {
  HeardOnce once({.kept = std::chrono::minutes(10), .most_bytes = 1});
  Speaker speaker;
  Ear ear;
  once.hear("key", speaker, ear, {}, ear.from);
  once.hear("key", speaker, ear, {}, ear.from);
  EXPECT_EQ(speaker.times, 2);

  HeardOnce of_errors;
  int times = 0;
  const auto broken = [&](RecognizerObserver& observer, const std::stop_token& /*stop*/) {
    ++times;
    observer.on_done(0, fail(ErrorCode::InvalidInput, "no sound"));
  };
  of_errors.hear("key", broken, ear, {}, ear.from);
  of_errors.hear("key", broken, ear, {}, ear.from);
  EXPECT_EQ(times, 2);
  EXPECT_EQ(ear.result.error().message, "no sound");
}

}  // namespace
}  // namespace mynah::server
