// Recognition while audio is still coming: `mynah transcribe -`.
#pragma once

#include <cstddef>

#include "cli/transcript_sink.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// Reads `source` to its end and hands what is recognised to recording `job` of the sink, as it is
// committed. `transcript` has what is known beforehand: model, device, language, task.
void run_live(const Recognizer& recognizer, const RecognizerOptions& options, AudioSource& source,
              Transcript transcript, TranscriptSink& sink, size_t job);

}  // namespace mynah::cli
