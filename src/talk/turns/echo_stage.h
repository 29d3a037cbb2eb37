// EchoStage: between a device and a conversation: what the conversation hears is without what is
// played, and its detector of voice knows what of the rest is an echo.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/echo/echo_canceller.h"
#include "base/result.h"
#include "speech/near_voice.h"
#include "speech/voice_detector.h"

namespace mynah::talk {

// One microphone and one loudspeaker. What push() gives goes to Conversation::step(), in its order
// and all of it, whose TalkParts::voice is voice(): the detector hears, for these samples, what the
// canceller made quieter still, and silence where the conversation is given zeros in their place.
// One thread.
//
// NearVoice has waited before it lets a voice through, so that InterruptionTimes::hold need not:
// one frame of the detector's is enough.
class EchoStage {
 public:
  // `voice` is of 16 kHz. Errors: those of EchoCanceller::create().
  static Result<std::unique_ptr<EchoStage>> create(int played_hz,
                                                   std::shared_ptr<const VoiceDetector> voice,
                                                   const NearVoiceOptions& options = {});

  // What was captured, 16 kHz mono, and what was really played meanwhile
  // (EchoCanceller::process()). Returns what is to be heard: as many samples, where whole frames of
  // 10 ms come.
  [[nodiscard]] std::vector<float> push(std::span<const float> captured,
                                        std::span<const float> played);

  // Its sessions hear nothing but what push() gave; while something is played, a voice is one that
  // NearVoice lets through. One session at a time.
  [[nodiscard]] std::shared_ptr<const VoiceDetector> voice() const { return voice_; }

  [[nodiscard]] const echo::EchoFacts& facts() const { return canceller_.facts(); }

  // Other devices, another place, or a microphone that was closed: the echo is learned anew. What
  // was played of late is still taken for an echo.
  void reset();

  // What push() knows of the samples that it gave, for the detector.
  struct Heard {
    std::vector<float> quieted;          // not yet heard
    std::vector<echo::EchoFacts> facts;  // a frame of 10 ms each
    size_t begun = 0;                    // samples of the first of these frames that were heard
  };

 private:
  EchoStage(echo::EchoCanceller canceller, std::shared_ptr<const VoiceDetector> voice,
            const NearVoiceOptions& options);

  echo::EchoCanceller canceller_;
  std::shared_ptr<Heard> heard_;
  std::shared_ptr<const VoiceDetector> voice_;
};

}  // namespace mynah::talk
