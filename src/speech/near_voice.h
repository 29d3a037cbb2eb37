// NearVoice: whether somebody speaks beside a loudspeaker, by a detector of voice that hears what
// an echo canceller left, and by what that knows.
#pragma once

namespace mynah {

struct NearVoiceOptions {
  // Probability of speech from which on a frame counts while nothing is played, and how long such
  // frames have to last (those that do not count are taken off twice).
  float threshold = 0.5F;
  double lasts_ms = 96;
  // While something is played: the probability, with so many dB more than an echo leaves; or a
  // higher one, with fewer.
  float threshold_beside = 0.5F;
  double excess_db = 12;
  float sure_threshold = 0.8F;
  double sure_excess_db = 8;
  double lasts_beside_ms = 160;
  // Quieter than this nobody speaks to the machine. dB of full scale.
  double quietest_db = -60;
};

// Frame by frame, as the detector has them. While something is played a frame counts where the
// detector hears a voice and more is left than an echo leaves; before the canceller knows the room
// none does (words may still say that somebody speaks: own_words).
class NearVoice {
 public:
  // What one frame of the detector is about.
  struct Frame {
    double ms = 32;
    float probability = 0;   // of speech in what the canceller made quiet
    double level_db = -100;  // of that, root mean square
    // What the canceller knows: EchoFacts of the frame's end.
    bool far_active = false;
    bool settled = false;    // it knows the room
    bool inaudible = false;  // nothing that is played is heard
    double excess_db = 0;
  };

  explicit NearVoice(const NearVoiceOptions& options) : options_(options) {}

  // Takes the next frame; true while somebody speaks.
  bool push(const Frame& frame);

  [[nodiscard]] bool speaking() const { return speaking_; }

  void reset();

 private:
  NearVoiceOptions options_;
  double counted_ms_ = 0;
  double silent_ms_ = 0;
  bool speaking_ = false;
};

}  // namespace mynah
