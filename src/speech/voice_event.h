// VoiceEvent: what becomes of a voice in a recording.
#pragma once

#include <cstdint>

namespace mynah {

// Where in the recording: between Began and Ended somebody is at it, pauses inside of a turn
// included.
struct VoiceEvent {
  enum class Kind : uint8_t { Began, Paused, WentOn, Ended };

  Kind kind = Kind::Began;
  int64_t at = 0;  // sample

  bool operator==(const VoiceEvent&) const = default;
};

}  // namespace mynah
