// EchoCanceller: what a microphone hears without what is being played beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "audio/echo/delay_finder.h"
#include "audio/echo/echo_filter.h"
#include "audio/echo/played_sound.h"
#include "base/result.h"

namespace mynah::echo {

// What is known of the echo, when a frame was heard.
struct EchoFacts {
  // Whether something was played that may still be heard: its echo lasts in the room.
  bool far_active = false;
  // How late it is heard; none before it was found (after some tenths of a second of speech), and
  // where it is not heard at all, as with headphones.
  std::optional<double> delay_ms;
  // Played for some seconds without being heard.
  bool inaudible = false;
  // Whether the filter has heard enough of the room that what it leaves tells something: 2.5 s of
  // what is played, since the echo was found.
  bool settled = false;
  // The clock that captures beside the one that plays; above 0: the echo comes later and later.
  double drift_ppm = 0;
  // Echo return loss enhancement: captured over cleaned sound, while the far end spoke alone, as
  // far as that is known. dB.
  double erle_db = 0;
  // What is left, beside the echo that was taken out, above what that is at other times: how much
  // more there is than echo. dB.
  double excess_db = 0;
};

// A frame of 10 ms at 16 kHz, kFrame samples.
struct CleanFrame {
  std::vector<float> cleaned;  // for a recogniser: the echo subtracted
  std::vector<float> quieted;  // for a detector of voice: what is left turned down, too
  EchoFacts facts;
};

using MakeEchoFilter = std::function<std::unique_ptr<EchoFilter>()>;

// One microphone at 16 kHz and one loudspeaker at any rate, each with its own clock. Delays up to
// 320 ms and clocks that are 100 ppm apart are found from the sound alone. One thread.
class EchoCanceller {
 public:
  // Errors: a rate that is not within 8000 to 192000 Hz.
  static Result<EchoCanceller> create(int played_hz, const MakeEchoFilter& make_filter);

  // What was captured, any number of samples of full scale 1, and what was really played during it,
  // silence too: as many samples as the loudspeaker's clock took; where less than half of that
  // came, the rest was silence. Returns the frames that are complete by it: what was captured comes
  // out up to 10 ms later; while nothing is played, unchanged. What is no number (NaN, infinite)
  // counts as silence.
  [[nodiscard]] std::vector<CleanFrame> process(std::span<const float> captured,
                                                std::span<const float> played);

  // As it was made.
  void reset();

  // Another place or other devices: nothing that was learned holds. What was played of late may
  // still be heard.
  void forget_path();

  [[nodiscard]] const EchoFacts& facts() const { return facts_; }

 private:
  EchoCanceller(int played_hz, std::unique_ptr<EchoFilter> filter);

  CleanFrame frame(std::span<const float> captured);
  // Where in what was played the reference of the next frame begins and how far apart its samples
  // are; follows the path without steps that the filter would have to learn anew.
  void align();
  // Leaves what was captured as it is where nothing that was played can be in it.
  void pass(std::span<const float> captured, CleanFrame& frame);
  void judge(std::span<const float> captured, const CleanFrame& frame,
             std::span<const float> reference);

  int played_hz_;
  double ratio_;  // samples played for one captured
  PlayedSound played_;
  DelayFinder finder_;
  std::unique_ptr<EchoFilter> filter_;
  double taken_ = 0;            // the share of what is given that comes from the filter
  std::vector<float> waiting_;  // captured, less than a frame
  int64_t frames_ = 0;
  std::optional<double> lag_;  // samples that the reference is behind the capture, where known
  double lag_growth_ = 0;      // samples per sample
  EchoFacts facts_;
  int64_t since_played_ = 0;    // samples since something was played
  int64_t aligned_frames_ = 0;  // frames of the far end since the filter began
  double echo_power_ = 0;       // smoothed: of what was subtracted
  double left_power_ = 0;       // of what was left
  double captured_power_ = 0;
  double usual_left_db_ = 0;  // what is left of an echo, at most times
};

}  // namespace mynah::echo
