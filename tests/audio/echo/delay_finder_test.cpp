// What the delay and the drift of an echo are found to be, on paths that are known.
#include "audio/echo/delay_finder.h"

#include <cmath>

#include <gtest/gtest.h>

#include "audio/echo/signals.h"

namespace mynah::echo {
namespace {

struct Path {
  double delay_ms;
  double drift_ppm;
};

class FoundPath : public testing::TestWithParam<Path> {};

// The strongest tap is the room's first, so that the delay is what the test made.
TEST_P(FoundPath, IsTheOneThatTheSignalTook) {
  const auto [delay_ms, drift_ppm] = GetParam();
  const std::vector<float> played = syllables(30, 16000, 1);
  const std::vector<float> heard = echo_of(played, 16000, delay_ms * 16, drift_ppm, room(0.05, 2));
  DelayFinder finder;
  size_t at = 0;
  int found = 0;
  double found_s = 0;
  for (; at + 160 <= heard.size(); at += 160) {
    if (finder.push(std::span(heard).subspan(at, 160), std::span(played).subspan(at, 160))) {
      ++found;
      found_s = static_cast<double>(at) / 16000;
    }
  }
  ASSERT_TRUE(finder.path());
  EXPECT_EQ(found, 1);
  // A look each half second, of which the first may hear only the onset.
  EXPECT_LE(found_s, 1.5);
  const double now = delay_ms * 16 + drift_ppm * 1e-6 * static_cast<double>(at);
  EXPECT_NEAR(finder.path()->samples, now, 1.0);
  // A sample in half a minute are 2 ppm; the first seconds weigh less than that.
  EXPECT_NEAR(finder.path()->drift_ppm, drift_ppm, 4);
}

INSTANTIATE_TEST_SUITE_P(Paths, FoundPath,
                         testing::Values(Path{5, 0}, Path{20, 100}, Path{80.3, -100}, Path{150, 35},
                                         Path{250, -60}));

TEST(DelayFinder, FindsNothingWhereNothingIsHeard) {
  const std::vector<float> played = syllables(10, 16000, 3);
  const std::vector<float> other = syllables(10, 16000, 4);
  DelayFinder finder;
  EXPECT_FALSE(finder.push(other, played));
  EXPECT_FALSE(finder.path());
  EXPECT_GE(finder.missed(), 9 * 16000);
}

TEST(DelayFinder, IsSilentInSilence) {
  const std::vector<float> silence(5 * 16000);
  DelayFinder finder;
  EXPECT_FALSE(finder.push(silence, silence));
  EXPECT_FALSE(finder.path());
  EXPECT_EQ(finder.missed(), 0);
}

TEST(DelayFinder, FollowsAPathThatBecomesAnother) {
  const std::vector<float> played = syllables(24, 16000, 5);
  std::vector<float> heard = echo_of(played, 16000, 800, 0, room(0.05, 6));
  const std::vector<float> later = echo_of(played, 16000, 2400, 0, room(0.05, 6));
  std::copy(later.begin() + 12 * 16000, later.end(), heard.begin() + 12 * 16000);
  DelayFinder finder;
  EXPECT_TRUE(finder.push(std::span(heard).first(12 * 16000), std::span(played).first(12 * 16000)));
  EXPECT_NEAR(finder.path()->samples, 800, 1);
  EXPECT_TRUE(
      finder.push(std::span(heard).subspan(12 * 16000), std::span(played).subspan(12 * 16000)));
  EXPECT_NEAR(finder.path()->samples, 2400, 1);
  finder.reset();
  EXPECT_FALSE(finder.path());
}

}  // namespace
}  // namespace mynah::echo
