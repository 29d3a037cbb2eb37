// Room: what a microphone hears of a place in a room, by the image-source method.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/echo/fourier.h"

namespace mynah::bench {

using Place = std::array<double, 3>;  // metres

// A box with walls that all swallow as much.
struct Room {
  Place size{};
  double rt60_s = 0.3;
};

// Samples of 16 kHz from the moment of the sound on: every image of the source that reaches the
// microphone within RT60 (Allen and Berkley 1979; walls by Eyring's formula), each a windowed sinc
// at its own time; without what is below 80 Hz, where the images add up to a constant.
[[nodiscard]] std::vector<float> impulse_response(const Room& room, const Place& source,
                                                  const Place& microphone);

// A signal through an impulse response, frame by frame (overlap-save in partitions of a frame).
class Convolver {
 public:
  explicit Convolver(std::span<const float> taps);

  // A frame of echo::kFrame samples in and out.
  void process(std::span<const float> in, std::span<float> out);

 private:
  echo::Fourier fourier_;
  size_t parts_ = 0;
  size_t newest_ = 0;
  std::vector<std::vector<std::complex<float>>> taps_;
  std::vector<std::vector<std::complex<float>>> heard_;
  std::vector<float> window_;
  std::vector<float> made_;
  std::vector<std::complex<float>> sum_;
};

}  // namespace mynah::bench
