// Interruption: what becomes of somebody's speech that begins over the assistant's. The assistant
// falls silent at once, and then either has stopped for good or goes on.
#pragma once

#include <cstdint>
#include <optional>

#include "talk/turns/short_words.h"

namespace mynah::talk {

// In samples of 16 kHz.
struct InterruptionTimes {
  // A voice so long holds the speech: three frames of Silero's 32 ms. One frame is a door; with two
  // the median of the onset to silence is 30 ms less.
  int64_t hold = 16000 * 9 / 100;
  // So much voice is speech, whatever it says.
  int64_t stop = 16000 * 7 / 10;
  // No longer is speech held for what is no speech.
  int64_t longest_hold = 16000 * 7 / 10;
};

// What is known of who speaks over the assistant.
struct OverSpeech {
  int64_t now = 0;        // sample
  int64_t voiced = 0;     // samples with a voice
  bool is_voice = false;  // it goes on
  // What was said, as far as it was heard.
  std::optional<SaidOver> said;
  bool said_all = false;  // all that was said so far is heard
  int64_t listened = 0;   // of `voiced`, what was heard to be nothing but a listener's words
  // Whether a voice alone may interrupt: not while the echo canceller learns.
  bool voice_counts = true;
};

class Interruption {
 public:
  enum class Act : uint8_t {
    None,
    Hold,    // playback is silent
    GoOn,    // it was nothing: playback goes on where it was held
    Stop,    // it was somebody: what the assistant says is over
    Forget,  // it was nothing, and nothing was held
  };

  explicit Interruption(const InterruptionTimes& times = {}) : times_(times) {}

  [[nodiscard]] Act look(const OverSpeech& speech);

  [[nodiscard]] bool holds() const { return held_since_.has_value(); }

 private:
  InterruptionTimes times_;
  std::optional<int64_t> held_since_;
  int64_t passed_over_ = 0;  // samples with a voice that were taken for nothing
};

}  // namespace mynah::talk
