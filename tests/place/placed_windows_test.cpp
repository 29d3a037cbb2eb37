// A Whisper where it is placed: what its start reads, and what asking for options costs.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "place/file_opens.h"
#include "place/placed_whisper.h"
#include "place/placer.h"
#include "speech/window_model.h"

namespace mynah::place {
namespace {

class PlacedWindows : public test::PlacedWhisper {};

TEST_F(PlacedWindows, AStartReadsItsFileOnce) {
  Placer placer(this->placer("cpu"));
  const test::FileOpens opens(file_.path);
  const auto windows = placer.windows(file_);
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_EQ(opens.count(), 1U) << "header, vocabulary and weights";
  EXPECT_EQ((*windows)->header()->facts().languages, std::vector<std::string>{"en"});
  EXPECT_EQ(opens.count(), 0U);
}

TEST_F(PlacedWindows, OptionsThatCannotBeFollowedAreRefusedByTheHeader) {
  Placer placer(this->placer("cpu"));
  const auto windows = placer.windows(file_);
  ASSERT_TRUE(windows) << windows.error().message;
  DecodingOptions options;
  EXPECT_TRUE((*windows)->header()->check(options));
  options.whisper.suppress_regex = "[";
  const Status checked = (*windows)->header()->check(options);
  ASSERT_FALSE(checked);
  EXPECT_EQ((*windows)->decoder(options).error().message, checked.error().message);
}

}  // namespace
}  // namespace mynah::place
