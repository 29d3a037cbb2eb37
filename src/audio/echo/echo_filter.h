// EchoFilter: takes out of a microphone's sound what of a loudspeaker's is in it, once both are
// aligned.
#pragma once

#include <memory>
#include <span>

namespace mynah::echo {

// Samples of a frame: 10 ms at 16 kHz.
inline constexpr size_t kFrame = 160;

// One microphone and one loudspeaker at 16 kHz. One thread.
class EchoFilter {
 public:
  virtual ~EchoFilter() = default;

  // A frame of what was captured, of full scale 1, and of what was played, of which the echo comes
  // `headroom` to a tenth of a second later. `cleaned` is without what can be subtracted: what a
  // recogniser is to hear. `quieted` has what is left of the echo turned down besides, with the
  // voice where it is covered by it: what a detector of voice is to hear. Spans are of kFrame.
  virtual void process(std::span<const float> captured, std::span<const float> played,
                       std::span<float> cleaned, std::span<float> quieted) = 0;

  // As new: the room is another one.
  virtual void reset() = 0;
};

// speexdsp: an adaptive filter of partitioned blocks in the frequency domain whose step follows the
// ratio of echo and error (Valin 2007), and its preprocessor.
std::unique_ptr<EchoFilter> make_speex_filter();

}  // namespace mynah::echo
