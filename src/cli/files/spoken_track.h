// The audio track of a file that somebody speaks on.
#pragma once

#include <memory>
#include <string>

#include "audio/open.h"
#include "audio/source.h"
#include "base/result.h"
#include "speech/voice_detector.h"

namespace mynah::cli {

// As open_audio(). Where no track was asked for and the file has several (a screen recorder's
// desktop and microphone), each is listened to in turn, the best one first, until one has a second
// of speech in its first minutes; the one with most is taken where none has. `detector` hears what
// speech is; none: the built-in one.
Result<std::unique_ptr<AudioSource>> open_spoken_track(const std::string& path,
                                                       const AudioOpenOptions& options,
                                                       const VoiceDetector* detector);

}  // namespace mynah::cli
