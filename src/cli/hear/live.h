// Recognition of streams: `mynah transcribe -`, a named pipe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>

#include "cli/hear/transcript_sink.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// A stream that is opened with what ends the reading of it.
struct Stream {
  std::string name;
  std::function<Result<std::unique_ptr<AudioSource>>(const std::stop_token&)> open;
};

// Reads the stream to its end and hands what is recognised to recording `job` of the sink. What
// comes as it is spoken goes through a live session and is told as it is committed; a recording
// that somebody pours in is heard as the file it was, and so is a stream of which only clips are
// wanted. `known` has what a live session does not know of itself: model, device, language, task.
void run_stream(const Recognizer& recognizer, const RecognizerOptions& options,
                const Stream& stream, Transcript known, TranscriptSink& sink, size_t job);

}  // namespace mynah::cli
