#include "cli/files/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::cli {
namespace {

using testing::HasSubstr;

TEST(Progress, ShowsShareSpeedAndTimeLeft) {
  auto now = Progress::Clock::time_point();
  OutputStream err;
  Progress progress(err, ProgressStyle::Bar, 2, [&now] { return now; });
  now += std::chrono::seconds(5);
  progress.update(0, "first.wav", 50, 100.0);
  progress.update(1, "second.wav", 0, 100.0);
  EXPECT_EQ(progress.bar("second.wav", 100),
            "[######..................]  25 %  10.0x  0:15 left  1/2  second.wav");
  progress.finish(0);
  EXPECT_THAT(progress.bar("second.wav", 100), HasSubstr("2/2"));
}

TEST(Progress, DrawsAtMostTenTimesASecondAndCleansUp) {
  auto now = Progress::Clock::time_point();
  OutputStream err;
  Progress progress(err, ProgressStyle::Bar, 1, [&now] { return now; });
  progress.update(0, "a", 1, 10.0);
  const size_t once = err.text().size();
  progress.update(0, "a", 2, 10.0);
  EXPECT_EQ(err.text().size(), once);
  now += std::chrono::seconds(1);
  progress.update(0, "a", 3, 10.0);
  EXPECT_GT(err.text().size(), once);
  progress.clear();
  EXPECT_TRUE(err.text().ends_with("\r\033[K"));
}

TEST(Progress, FitsTheTerminal) {
  auto now = Progress::Clock::time_point();
  OutputStream err;
  Progress progress(err, ProgressStyle::Bar, 1, [&now] { return now; });
  now += std::chrono::seconds(1);
  progress.update(0, "", 1, 2.0);
  const std::string bar = progress.bar("/a/very/long/path/to/größe.wav", 70);
  EXPECT_LE(bar.size(), 71U);  // one character of two bytes
  EXPECT_TRUE(bar.ends_with("größe.wav")) << bar;
}

TEST(Progress, WritesDurationsShort) {
  EXPECT_EQ(short_duration(7.4), "0:07");
  EXPECT_EQ(short_duration(754), "12:34");
  EXPECT_EQ(short_duration(3723), "1:02:03");
  EXPECT_EQ(short_duration(-1), "0:00");
}

}  // namespace
}  // namespace mynah::cli
