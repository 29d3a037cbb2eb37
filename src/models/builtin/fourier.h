// A discrete Fourier transform of a length that is a power of two.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace mynah {

// Radix 2 in place (Cooley and Tukey 1965); twiddles are computed once.
class Fourier {
 public:
  // `size`: a power of two.
  explicit Fourier(size_t size);

  // X[k] = sum over n of x[n] exp(-2 pi i k n / size).
  void transform(std::span<std::complex<double>> values) const;

 private:
  std::vector<std::complex<double>> twiddles_;  // exp(-2 pi i k / size), k < size / 2
  std::vector<size_t> reversed_;                // each index with its bits in reverse
};

}  // namespace mynah
