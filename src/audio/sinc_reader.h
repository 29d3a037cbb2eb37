// SincReader: a signal read between its samples, at another rate.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace mynah {

// Reads samples of one rate at positions of another that drift against each other, which soxr's
// fixed ratio does not do: a windowed sinc (16 zeros to either side; Kaiser, beta 9: images are
// 90 dB below), cut off below half of the lower rate. Constant after it was made.
class SincReader {
 public:
  SincReader(double in_hz, double out_hz);

  // What a value at a position is made of: samples first, first + 1, ..., by weights of the two
  // positions beside it that there are weights for, `part` of the way from the lower to the upper.
  struct Taps {
    int64_t first;
    std::span<const float> lower, upper;
    float part;
  };

  // `position`: in samples of the signal.
  [[nodiscard]] Taps taps(double position) const;

  // Fills `out` with the signal at the positions first, first + step, ...; `at(i)` is its sample i.
  void read(double first, double step, const std::function<float(int64_t)>& at,
            std::span<float> out) const;

  // Samples that are looked at on either side of a position.
  [[nodiscard]] int64_t reach() const { return reach_; }

 private:
  int64_t reach_;
  // Row i: the weights for a position i / kPhases of a sample behind a sample.
  std::vector<float> weights_;
};

}  // namespace mynah
