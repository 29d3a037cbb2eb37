// WakeEar: waits for a word in what a microphone hears, all day.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "speech/voice_detector.h"
#include "speech/wake/wake_check.h"
#include "speech/wake/wake_word.h"
#include "talk/loop/workers.h"

namespace mynah::talk {

// The word was said.
struct WakeHit {
  std::string word;  // as it is named
  int64_t end = 0;   // sample behind it, counted from the first one that was heard

  bool operator==(const WakeHit&) const = default;
};

// One thread drives it; it may compute on others, which are
// waited for at its end.
class WakeEar {
 public:
  virtual ~WakeEar() = default;

  // Listens to what comes next, 16 kHz mono; the word that is known to have been said, which may be
  // a while ago: at most kWakeLate_s. Errors: the device's of what hears it; it goes on behind
  // them.
  [[nodiscard]] virtual Result<std::optional<WakeHit>> hear(std::span<const float> samples) = 0;

  // Whether it is still to be seen if something that was heard is the word.
  [[nodiscard]] virtual bool is_working() const = 0;

  // As before the first sample.
  virtual void reset() = 0;
};

// Nobody waits longer for a reply to a word.
inline constexpr double kWakeLate_s = 3;

// Words that microWakeWord was taught. `check` looks at what may be one, on the ear's thread of
// `workers`; null: a word is there above its own cutoff alone.
[[nodiscard]] std::unique_ptr<WakeEar> word_wake_ear(
    std::vector<std::shared_ptr<const WakeWord>> words, std::shared_ptr<WakeCheck> check,
    Workers& workers);

// A phrase of one's own at the begin of what somebody says: a detector wakes a recogniser, which
// hears how each voice begins. `language`: ISO 639-1 code, of the phrase; "": the recogniser's
// first.
[[nodiscard]] std::unique_ptr<WakeEar> phrase_wake_ear(WakePhrase phrase, std::string language,
                                                       std::shared_ptr<const VoiceDetector> voice,
                                                       std::shared_ptr<WakeCheck> check,
                                                       Workers& workers);

}  // namespace mynah::talk
