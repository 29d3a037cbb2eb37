// Recordings whose speakers have a channel each, heard channel by channel.
#pragma once

#include <cstddef>

#include "cli/hear/stereo_speakers.h"
#include "cli/hear/transcript_sink.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// Hears a recording, which is `job` of the sink, and says who speaks. Where its two channels are
// apart each is heard by itself, so that people who speak at the same time are both understood: the
// sink hears of it as of one recording, segments in order of time, each with its channel as its
// speaker, without what one channel only has of the other. Else `mixed` is heard.
void run_with_speakers(const Recognizer& recognizer, const RecognizerOptions& options,
                       const RecognizerJob& mixed, const ChannelOpener& open_channel,
                       TranscriptSink& sink, size_t job);

}  // namespace mynah::cli
