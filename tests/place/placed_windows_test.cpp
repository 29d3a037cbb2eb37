// A Whisper where it is placed: what its start reads, and what asking for options costs.
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "place/placed_whisper.h"
#include "place/placer.h"
#include "speech/window_model.h"

namespace mynah::place {
namespace {

// Counts how often a file is opened while this lives.
class Opens {
 public:
  explicit Opens(const std::string& path) {
    EXPECT_GE(::inotify_add_watch(queue_, path.c_str(), IN_OPEN), 0);
  }

  ~Opens() { ::close(queue_); }

  Opens(const Opens&) = delete;
  Opens& operator=(const Opens&) = delete;

  // Since it was asked last.
  [[nodiscard]] size_t count() const {
    std::vector<std::byte> events(1 << 16);
    const ssize_t bytes = ::read(queue_, events.data(), events.size());
    return bytes > 0 ? static_cast<size_t>(bytes) / sizeof(inotify_event) : 0;
  }

 private:
  int queue_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
};

class PlacedWindows : public test::PlacedWhisper {};

TEST_F(PlacedWindows, AStartReadsItsFileOnce) {
  Placer placer(this->placer("cpu"));
  const Opens opens(file_.path);
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
