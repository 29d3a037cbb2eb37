// Discrete Fourier transforms of many frames at once, side by side in memory, so that the compiler
// makes vectors of frames: ops::magnitude_spectrum has no phases and no way back.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace mynah::hibari {

inline constexpr size_t kFrameSize = 1200;  // samples of a frame: 50 ms
inline constexpr size_t kBins = kFrameSize / 2 + 1;
inline constexpr size_t kLanes = 16;  // frames that are transformed together

// One number of each lane.
using Lane = std::array<float, kLanes>;

// kFrameSize complex numbers of each lane; no frame sees another.
struct Frames {
  std::vector<Lane> real = std::vector<Lane>(kFrameSize);
  std::vector<Lane> imaginary = std::vector<Lane>(kFrameSize);
};

// The sum of x[i] exp(-+ 2 pi i k n / kFrameSize), backwards without the division. `scratch` is
// written over. Stockham's order (Van Loan 1992, Computational Frameworks for the Fast Fourier
// Transform, section 1.7), radices 4, 4, 3, 5, 5.
void transform(Frames& x, Frames& scratch, bool backwards);

}  // namespace mynah::hibari
