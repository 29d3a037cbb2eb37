// Normally distributed noise that a seed decides: the same bits at any number of threads and on any
// device, since the host makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mynah::piper {

class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}

  // The next `count` numbers, mean 0 and deviation `scale`; zeros, and no number used, where it is
  // 0.
  [[nodiscard]] std::vector<float> next(size_t count, float scale);

 private:
  uint64_t state_;
};

}  // namespace mynah::piper
