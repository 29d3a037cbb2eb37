// SampleBuffer: the part of a recording that is still needed, addressed by its place in the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mynah {

// Samples are numbered from the start of the recording. Memory follows what is kept, not what has
// passed.
class SampleBuffer {
 public:
  void append(std::span<const float> samples);

  // Samples before `sample` are not asked for again.
  void discard_before(int64_t sample);

  [[nodiscard]] int64_t begin() const { return begin_; }

  [[nodiscard]] int64_t end() const {
    return begin_ + static_cast<int64_t>(samples_.size() - skipped_);
  }

  // Samples [from, to), cut to what there is.
  [[nodiscard]] std::span<const float> slice(int64_t from, int64_t to) const;

 private:
  // Moves what is kept to the front, where `more` samples have room behind it.
  void make_room(size_t more);

  int64_t begin_ = 0;   // number of the first sample that is kept
  size_t skipped_ = 0;  // samples at the front of samples_ that are gone already
  std::vector<float> samples_;
};

}  // namespace mynah
