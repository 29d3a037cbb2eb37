// AutomaticLevel: a recording as a voice detector hears it best. What is quiet is brought up, and a
// steady sound below speech (mains hum, rumble, an offset) is taken away.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace mynah {

// One recording, block by block: what becomes of a block hangs on it and on what came before alone,
// so that it is the same however the samples come. Loud speech without such a sound passes
// unchanged.
//
// Measured with Silero on the mixes of shared/cases, in frames that are speech in the clean
// recordings and are not found: peaks at -40 dBFS 7.0 % before and 0.9 after, at -55 dBFS 47.5 and
// 1.3, mains hum 10 dB above speech 11.8 and 1.3; clean speech 0.3.
class AutomaticLevel {
 public:
  // `block`: samples that are looked at together; 32 ms of them at `rate_hz`.
  AutomaticLevel(int rate_hz, size_t block);

  // Takes any number of samples; returns those of the blocks that they complete.
  [[nodiscard]] std::vector<float> push(std::span<const float> samples);
  // Returns the samples that fill no block, and begins anew.
  [[nodiscard]] std::vector<float> flush();
  void reset();

  // All that is known of the recording so far, as numbers.
  [[nodiscard]] std::vector<double> state() const;
  // Takes that of another; false, and nothing changes, where it cannot be one.
  [[nodiscard]] bool set_state(std::span<const double> values);

 private:
  // A Butterworth high-pass of second order, as a transposed direct form II.
  struct HighPass {
    double b0 = 1;  // b1 is -2 b0, b2 is b0
    double a1 = 0;
    double a2 = 0;
    double z1 = 0;
    double z2 = 0;

    // As if what comes had been at `sample` for ever.
    void settle(double sample);
    double next(double sample);
  };

  void hear_block(std::vector<float>& out);
  // Puts what waits through the filter and keeps its energies and its peak.
  void analyse();
  // How much of what is below speech is to be taken away, 0 or 1.
  [[nodiscard]] double wanted_removal() const;
  // What waits, without as much of the sound below speech as is removed now.
  void remove_low();
  // The gain for samples whose highest is `peak`.
  [[nodiscard]] double next_gain(double peak);

  size_t block_;
  HighPass filter_;
  bool begun_ = false;
  std::vector<float> waiting_;    // samples of a block that is not complete
  std::vector<double> low_part_;  // of the block at hand: what the filter takes away
  double removed_ = 0;            // of the low part, at the end of the last block
  double gain_ = 0;               // the same; 0: of none yet
  double lasting_peak_ = 0;       // of the recording, what lasts a moment; falls slowly
  double last_peak_ = 0;          // of anything; falls fast
  std::deque<double> low_;        // energy below speech, of the last second's blocks
  std::deque<double> high_;       // energy of the rest, of the last two
  std::deque<double> peaks_;      // of the rest, of the last blocks
};

}  // namespace mynah
