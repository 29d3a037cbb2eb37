// PromptReads: reads a source as long as it need not be waited for, so that what is there can be
// worked on together, and what is still to come keeps nobody.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "audio/source.h"
#include "base/result.h"

namespace mynah {

// One run of reads: from its making until more() is false.
class PromptReads {
 public:
  // As AudioSource::read().
  Result<size_t> read(AudioSource& source, std::span<float> out) {
    const Clock::time_point begin = Clock::now();
    auto count = source.read(out);
    const Clock::time_point end = Clock::now();
    more_ = count && *count > 0 && end - begin < kWait && end - start_ < kLongest;
    return count;
  }

  // False where the last read waited or found the end, or all together took long.
  [[nodiscard]] bool more() const { return more_; }

 private:
  using Clock = std::chrono::steady_clock;

  // A block of a file takes a fraction of this to decode and resample.
  static constexpr std::chrono::milliseconds kWait{5};
  static constexpr std::chrono::milliseconds kLongest{100};

  Clock::time_point start_ = Clock::now();
  bool more_ = true;
};

}  // namespace mynah
