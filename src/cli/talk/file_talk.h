// A conversation with a recording in the place of the microphone, and a file in that of the
// loudspeaker.
#pragma once

#include <functional>
#include <string>

#include "audio/source.h"
#include "base/result.h"
#include "cli/speak/sound_output.h"
#include "talk/loop/conversation.h"
#include "talk/loop/wake_gate.h"

namespace mynah::cli {

// How fast the recording's clock goes.
enum class TalkPace : unsigned char {
  // As the clock on the wall while something is computed, so that what is said of times is true; at
  // once where nothing is.
  AsNeeded,
  RealTime,
};

struct FileTalk {
  talk::Conversation& conversation;
  talk::WakeGate& gate;                                      // before it
  AudioSource& source;                                       // 16 kHz mono
  SoundOutput* output = nullptr;                             // null: nobody hears it
  std::function<void(const talk::TalkEvent& event)> tell{};  // from the thread that runs
  TalkPace pace = TalkPace::AsNeeded;

  // Until the recording is over and the last reply played. Cancelled once stop is requested; what
  // the recording and the output refuse.
  Status run(const std::stop_token& stop);

  void tell_events() const;
};

}  // namespace mynah::cli
