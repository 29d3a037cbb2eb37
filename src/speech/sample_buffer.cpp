#include "speech/sample_buffer.h"

#include <algorithm>
#include <utility>

namespace mynah {

void SampleBuffer::make_room(size_t more) {
  const auto kept = samples_.begin() + static_cast<ptrdiff_t>(skipped_);
  const size_t wanted = samples_.size() - skipped_ + more;
  // A quarter to spare: a sample moves four times at most, and little is held for nothing.
  const size_t roomy = wanted + wanted / 4;
  if (roomy <= samples_.capacity()) {
    samples_.erase(samples_.begin(), kept);
  } else {
    std::vector<float> larger;
    larger.reserve(roomy);
    larger.assign(kept, samples_.end());
    samples_ = std::move(larger);
  }
  skipped_ = 0;
}

void SampleBuffer::append(std::span<const float> samples) {
  if (samples_.capacity() - samples_.size() < samples.size()) {
    make_room(samples.size());
  }
  samples_.insert(samples_.end(), samples.begin(), samples.end());
}

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
