// Resampler: changes the sample rate of one channel, piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace mynah {

// soxr at its HQ setting (20 bits, linear phase, the delay taken out). However the input is cut
// into pieces, the output is the same, and N samples in give round(N * out_hz / in_hz) out.
class Resampler {
 public:
  static Result<Resampler> create(int in_hz, int out_hz);

  // Takes `in` and appends to `out` what is ready.
  Status push(std::span<const float> in, std::vector<float>& out);

  // Appends the rest; nothing may be pushed after it.
  Status finish(std::vector<float>& out);

 private:
  struct Deleter {
    void operator()(void* soxr) const;
  };

  Resampler(void* soxr, int in_hz, int out_hz)
      : soxr_(soxr), ratio_(static_cast<double>(out_hz) / in_hz) {}

  Status run(const float* in, size_t count, std::vector<float>& out);

  std::unique_ptr<void, Deleter> soxr_;
  double ratio_;
};

}  // namespace mynah
