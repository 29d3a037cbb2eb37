#include "speech/sample_buffer.h"

#include <algorithm>

namespace mynah {

void SampleBuffer::discard_before(int64_t sample) {
  const int64_t to = std::min(sample, end());
  if (to <= begin_) {
    return;
  }
  skipped_ += static_cast<size_t>(to - begin_);
  begin_ = to;
  // Moved seldom enough that each sample moves about once.
  if (skipped_ > samples_.size() / 2) {
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(skipped_));
    skipped_ = 0;
  }
}

std::span<const float> SampleBuffer::slice(int64_t from, int64_t to) const {
  const int64_t first = std::clamp(from, begin_, end());
  const int64_t last = std::clamp(to, first, end());
  return std::span(samples_).subspan(skipped_ + static_cast<size_t>(first - begin_),
                                     static_cast<size_t>(last - first));
}

}  // namespace mynah
