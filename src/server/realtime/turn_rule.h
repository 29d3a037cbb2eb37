// TurnRule: when somebody's turn begins and ends, by what a detector finds of their voice
// (OpenAI's server_vad), or by what somebody else makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "speech/voice_event.h"

namespace mynah::server {

// In samples.
struct TurnTimes {
  int64_t least_speech = 0;        // what is shorter is a knock
  int64_t silence = 0;             // so much of it ends a turn
  std::optional<int64_t> waiting;  // so much without a turn is told
};

struct TurnStep {
  enum class Kind : uint8_t { Started, Stopped, WaitedInVain };

  Kind kind = Kind::Started;
  int64_t at = 0;  // where the voice began, where it ended, or where the waiting began

  bool operator==(const TurnStep&) const = default;
};

class TurnRule {
 public:
  explicit TurnRule(const TurnTimes& times) : times_(times) {}

  // What was found of the voice up to the sample `now`, in order.
  [[nodiscard]] std::vector<TurnStep> take(std::span<const VoiceEvent> events, int64_t now);

  // Whether it is somebody's turn.
  [[nodiscard]] bool is_open() const { return open_; }

  // So many samples of silence end turns from now on.
  void set_silence(int64_t silence) { times_.silence = silence; }

  // The turn ends here by somebody's word.
  void end(int64_t now);

  // From here on a turn is waited for.
  void wait_from(int64_t now) { waiting_since_ = now; }

 private:
  TurnTimes times_;
  std::optional<int64_t> began_;   // a voice that may be a turn
  std::optional<int64_t> silent_;  // since when
  std::optional<int64_t> waiting_since_;
  bool open_ = false;
};

}  // namespace mynah::server
