// Tables of the log-mel front end, made once per transform size.
#pragma once

#include <cstdint>
#include <vector>

namespace mynah::cpu {

// A discrete Fourier transform of n real numbers as two products, with the input folded in half:
// the cosine is even and the sine odd, so bin k needs only sums and differences of sample j and n -
// j.
struct DftTables {
  explicit DftTables(int64_t n_fft);

  int64_t n = 0;
  int64_t bins = 0;  // n / 2 + 1
  int64_t panels = 0;
  std::vector<float> window;   // (n) periodic Hann
  std::vector<float> cosines;  // (panel, bins, 32): rows are folded samples, columns bins
  std::vector<float> sines;    // the same
};

// A full turn in n steps, for a fast Fourier transform of n numbers.
struct FftTables {
  explicit FftTables(int64_t n);

  std::vector<float> cosines;  // (n)
  std::vector<float> sines;    // (n)
};

}  // namespace mynah::cpu
