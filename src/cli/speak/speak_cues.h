// Subtitles spoken at their times.
#pragma once

#include <stop_token>

#include "cli/speak/speak_observer.h"
#include "speech/synthesizer.h"
#include "text/documents/subtitles.h"

namespace mynah::cli {

// A text that is longer than its cue is spoken faster, up to this factor.
inline constexpr double kMostCueSpeedup = 1.5;

// Speaks each cue at its time, with silence before it and up to the last one's end. What is longer
// than its cue is spoken faster, and where that is not enough goes on into the pause behind it; a
// cue whose time is not yet free begins when the one before has ended. How many that were, and
// where, is a warning.
Status speak_cues(const Subtitles& subtitles, const Synthesizer& synthesizer,
                  const SpeakOptions& options, SpeakObserver& observer,
                  const std::stop_token& stop);

}  // namespace mynah::cli
