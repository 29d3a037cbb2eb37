// SincReader: a signal read between its samples, at another rate.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mynah {

// Reads samples of one rate at positions of another that drift against each other, which soxr's
// fixed ratio does not do: a sinc under a Hann window, `kZeros` zeros to either side, cut off below
// half of the lower rate. Constant after it was made.
class SincReader {
 public:
  static constexpr int kZeros = 16;

  SincReader(double in_hz, double out_hz);

  // Fills `out` with the signal at the positions (in samples of it) first, first + step, ...;
  // `at(i)` is its sample i.
  void read(double first, double step, const std::function<float(int64_t)>& at,
            std::span<float> out) const;

  // Samples that are looked at on either side of a position.
  [[nodiscard]] int reach() const { return reach_; }

 private:
  double cutoff_;  // of the signal's own half rate
  int reach_;
  std::vector<double> kernel_;  // by distance, kSteps a sample
};

}  // namespace mynah
