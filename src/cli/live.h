// Recognition while audio is still coming: `mynah transcribe -`.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/transcript_sink.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// Stands between the process's standard input and whoever reads descriptor 0, so that a reader who
// waits for a microphone that says nothing sees the end of the input when a stop is requested.
class InterruptibleInput {
 public:
  static Result<std::unique_ptr<InterruptibleInput>> create(const std::stop_token& stop);
  ~InterruptibleInput();
  InterruptibleInput(const InterruptibleInput&) = delete;
  InterruptibleInput& operator=(const InterruptibleInput&) = delete;

 private:
  InterruptibleInput() = default;

  void pump();

  UniqueFd input_;  // what descriptor 0 was
  UniqueFd pipe_;   // the end that pump() writes to
  UniqueFd wake_;
  std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop_;
  std::thread thread_;
};

// Reads `source` to its end and hands what is recognised to recording `job` of the sink, as it is
// committed. `transcript` has what is known beforehand: model, device, language, task.
void run_live(const Recognizer& recognizer, const RecognizerOptions& options, AudioSource& source,
              Transcript transcript, TranscriptSink& sink, size_t job);

}  // namespace mynah::cli
