// ChannelPhase: mixes channels to one, also where some of them are another one upside down.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mynah {

// A balanced line on a stereo input, or a plug that is wired wrongly, records the same sound twice
// with opposite signs: the sum of the channels is silence, and their difference is the sound. Where
// that is so of two channels (of a film's fronts, of a recorder's microphones), the second one's
// sign is turned; everywhere else the mix is the plain sum of the weighted channels.
class ChannelPhase {
 public:
  // `weights` of the channels in the mix; one of 0 is not heard.
  explicit ChannelPhase(std::span<const float> weights);

  // Mixes interleaved frames into `mono` (as many samples as frames). True once, when what was
  // mixed with a sign turned has lasted long enough to be told.
  bool mix(std::span<const float> frames, std::span<float> mono);

 private:
  void measure(std::span<const float> frames);
  void choose_signs();

  // Of two channels: the sum of products, and whether they are opposed.
  struct Pair {
    size_t first = 0;
    size_t second = 0;
    double product = 0;
    bool opposed = false;
  };

  std::vector<float> weights_;
  std::vector<double> energies_;  // of what was measured since the signs were chosen last
  std::vector<Pair> pairs_;
  size_t measured_ = 0;       // frames in them
  std::vector<float> signs_;  // 1 or -1
  bool begun_ = false;
  size_t turned_frames_ = 0;
  bool told_ = false;
};

}  // namespace mynah
