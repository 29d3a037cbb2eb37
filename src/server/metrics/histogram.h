// Histogram: how often values fell below each of some bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "server/metrics/exposition.h"

namespace mynah::server {

template <size_t kBounds>
class Histogram {
 public:
  explicit constexpr Histogram(const std::array<double, kBounds>& bounds) : bounds_(bounds) {}

  void add(double value) {
    const auto found = std::ranges::lower_bound(bounds_, value);
    ++counts_.at(static_cast<size_t>(found - bounds_.begin()));
    sum_ += value;
  }

  void tell(Exposition& to, const Exposition::Labels& labels = {}) const {
    to.buckets(bounds_, counts_, sum_, labels);
  }

 private:
  std::array<double, kBounds> bounds_;
  std::array<uint64_t, kBounds + 1> counts_{};
  double sum_ = 0;
};

}  // namespace mynah::server
