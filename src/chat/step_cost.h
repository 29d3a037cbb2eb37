// StepCost: how long steps take by the tokens that they compute, as measured of late.
#pragma once

#include <cstdint>

namespace mynah {

// A line through what was measured, older measurements counting less. Until steps of several sizes
// were seen its slope is a guess.
class StepCost {
 public:
  void note(int64_t tokens, double ms);

  // Milliseconds of a step; 0 where none was measured.
  [[nodiscard]] double of(double tokens) const;

 private:
  double tokens_ = 0;  // means
  double ms_ = 0;
  double spread_ = 0;    // of tokens: their variance
  double together_ = 0;  // covariance of both
};

}  // namespace mynah
