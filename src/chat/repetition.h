// RepetitionWatch: whether a text that is being written repeats itself and nothing else, as small
// models do until their context is full.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mynah {

// Looks at the end of the text each 128 bytes: some microseconds, a token's worth of time in a
// thousand. For the thread that takes the text.
class RepetitionWatch {
 public:
  // `least`: bytes that repeat, at least.
  explicit RepetitionWatch(size_t least = 800) : least_(least) {}

  // Takes what was written next. True once, as soon as the text ends with a run of at most 512
  // bytes that came 6 times in a row at least, in `least` bytes at least. A run of fewer than 6
  // different letters (zeros of a table, a line of dashes, "| no | no |") must go on for five times
  // as long: such are written on purpose.
  [[nodiscard]] bool push(std::string_view text);

 private:
  size_t least_;
  std::string tail_;  // as much as is looked at
  size_t unseen_ = 0;
  bool told_ = false;
};

}  // namespace mynah
