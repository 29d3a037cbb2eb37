// Normally distributed noise that a seed decides: the same bits at any number of threads and on any
// device, since the host makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mynah {

class NormalNoise {
 public:
  explicit NormalNoise(uint64_t seed);

  // The next `count` numbers, mean 0 and deviation `scale`; zeros, and no number used, where it is
  // 0.
  [[nodiscard]] std::vector<float> next(size_t count, float scale);
  // Pairs of them: x[i] and y[i], deviation 1. The spans are equally long.
  void next_pairs(std::span<float> x, std::span<float> y);

  // As if `pairs` pairs had been taken.
  void skip(size_t pairs) { used_ += static_cast<uint32_t>(pairs); }

 private:
  uint32_t key_ = 0;
  uint32_t other_key_ = 0;
  uint32_t used_ = 0;
};

}  // namespace mynah
