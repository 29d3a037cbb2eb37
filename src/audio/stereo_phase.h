// StereoPhase: mixes two channels to one, also where one is the other upside down.
#pragma once

#include <cstddef>
#include <span>

namespace mynah {

// A balanced line on a stereo input, or a plug that is wired wrongly, records the same sound twice
// with opposite signs: the sum of the channels is silence, and their difference is the sound. Where
// that is so the difference is taken; everywhere else the mix is the plain mean.
class StereoPhase {
 public:
  // Mixes interleaved frames of two channels into `mono` (as many samples as frames). True once,
  // when what was mixed as a difference has lasted long enough to be told.
  bool mix(std::span<const float> frames, std::span<float> mono);

 private:
  void measure(std::span<const float> frames);

  // Energies and the product of the channels, of the last third of a second to a second.
  double left_ = 0;
  double right_ = 0;
  double both_ = 0;
  size_t measured_ = 0;  // frames, up to kLeastFrames
  bool opposed_ = false;
  bool begun_ = false;
  size_t opposed_frames_ = 0;
  bool told_ = false;
};

}  // namespace mynah
