// VectorIndex: exact search for the vectors nearest to one. 100,000 vectors of 384 numbers are 38
// MB to look through: a scan over int8 codes says how far each may be off, and those that could be
// among the nearest are compared with what was kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mynah::talk {

// Vectors as they are kept: f16.
using HalfVector = std::vector<uint16_t>;

class VectorIndex {
 public:
  struct Near {
    size_t place = 0;  // as add() counted
    double product = 0;
  };

  // Vectors of `width` numbers, 1 to kMostWidth.
  explicit VectorIndex(size_t width);

  // Requires `width` finite numbers.
  void add(std::span<const uint16_t> vector);

  // The `most` with the largest products of those that `wanted` takes, the largest first; of equal
  // ones the first that was added. Exact: as if every product of the f16 numbers with `asked` were
  // computed in f64. Requires `width` finite numbers.
  [[nodiscard]] std::vector<Near> nearest(std::span<const float> asked, size_t most,
                                          const std::function<bool(size_t place)>& wanted) const;

  [[nodiscard]] size_t size() const { return bounds_.size(); }

  [[nodiscard]] size_t width() const { return width_; }

  // Sums of int8 times int16 stay within 32 bits up to here.
  static constexpr size_t kMostWidth = 4096;

 private:
  // v = scale * code + rest: how long the rest is, and the code's part, at most.
  struct Bound {
    float scale = 0;
    float rest = 0;    // length of the rest
    float length = 0;  // of scale * code
  };

  [[nodiscard]] double product(std::span<const float> asked, size_t place) const;

  size_t width_;
  std::vector<int8_t> codes_;     // (n, width)
  std::vector<uint16_t> halves_;  // (n, width)
  std::vector<Bound> bounds_;     // (n)
};

}  // namespace mynah::talk
