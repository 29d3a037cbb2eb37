// Tables of Fourier transforms, made once a size.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/kernels.h"

namespace mynah::cpu {

// For a fast Fourier transform of n numbers: a full turn in n steps, and a window.
struct FftTables {
  explicit FftTables(int64_t n);

  // A transform of rows times `window` (n).
  [[nodiscard]] Transform with(const float* window) const;

  std::vector<float> cosines;  // (n)
  std::vector<float> sines;    // (n)
  std::vector<float> hann;     // (n), periodic
};

}  // namespace mynah::cpu
