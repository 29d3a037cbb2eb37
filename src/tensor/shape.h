// Shape: the sizes of a tensor's dimensions, outermost first (row-major, as NumPy).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace mynah {

inline constexpr int kMaxRank = 5;

// A small value; rank 0 is a scalar.
class Shape {
 public:
  Shape() = default;

  Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}

  explicit Shape(std::span<const int64_t> sizes);

  [[nodiscard]] int rank() const { return rank_; }

  // Size of dimension i; negative i counts from the end.
  [[nodiscard]] int64_t operator[](int i) const {
    return sizes_[static_cast<size_t>(i < 0 ? i + rank_ : i)];
  }

  [[nodiscard]] int64_t elements() const;

  [[nodiscard]] std::span<const int64_t> sizes() const {
    return {sizes_.data(), static_cast<size_t>(rank_)};
  }

  // "(1500, 384)"
  [[nodiscard]] std::string str() const;

  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

}  // namespace mynah
