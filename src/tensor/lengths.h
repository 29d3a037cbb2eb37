// Lengths: where each utterance of a ragged batch begins in packed rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mynah {

// A run of rows of a packed tensor.
struct Span {
  int64_t begin = 0;
  int64_t length = 0;

  [[nodiscard]] int64_t end() const { return begin + length; }

  bool operator==(const Span&) const = default;
};

// A ragged batch of utterances is one tensor of packed rows (sum of lengths, d) and this list, in
// order.
class Lengths {
 public:
  Lengths() = default;

  explicit Lengths(std::span<const int64_t> lengths) {
    for (const int64_t length : lengths) {
      add(length);
    }
  }

  Lengths(std::initializer_list<int64_t> lengths)
      : Lengths(std::span(lengths.begin(), lengths.size())) {}

  void add(int64_t length) {
    spans_.push_back({total_, length});
    total_ += length;
  }

  void clear() {
    spans_.clear();
    total_ = 0;
  }

  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(spans_.size()); }

  [[nodiscard]] int64_t total() const { return total_; }

  [[nodiscard]] const Span& operator[](int64_t i) const { return spans_[static_cast<size_t>(i)]; }

  [[nodiscard]] std::span<const Span> spans() const { return spans_; }

 private:
  std::vector<Span> spans_;
  int64_t total_ = 0;
};

}  // namespace mynah
