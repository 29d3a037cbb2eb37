// JobScheduler: windows of several recordings, decoded in batches, reported in order.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "speech/recognizer.h"
#include "speech/transcription_job.h"
#include "speech/window_decoder.h"

namespace mynah {

// One run over a list of jobs. As many are open as fill a batch, so memory does not grow with their
// number or length.
class JobScheduler {
 public:
  JobScheduler(WindowDecoder& decoder, const VoiceDetector* voice,
               std::span<const RecognizerJob> jobs, RecognizerObserver& observer)
      : decoder_(decoder), voice_(voice), jobs_(jobs), observer_(observer), results_(jobs.size()) {}

  // Ends every job, with an error where it has one. A DeviceError passes through.
  void run(const std::stop_token& stop);

  // Ends whatever has not ended with this error.
  void end_all(const Error& error);

 private:
  struct OpenJob {
    size_t number = 0;
    std::unique_ptr<TranscriptionJob> job;
    Transcript transcript;       // segments reported so far
    std::optional<Error> error;  // of its audio; what was read before is still decoded
    WindowTimings timings;
    double audio_ms = 0;  // reading, decoding and voice activity
  };

  // A window of a batch and whose it is.
  struct Taken {
    OpenJob* owner = nullptr;
    size_t ticket = 0;
  };

  void open_next();
  [[nodiscard]] std::vector<WindowTask> take_batch(std::vector<Taken>& taken,
                                                   const std::stop_token& stop);
  void decode_batch(const std::stop_token& stop);
  void report_segments(OpenJob& open);
  void close_finished();
  void end(size_t number, Result<Transcript> result);
  void report_ended();

  WindowDecoder& decoder_;
  const VoiceDetector* voice_;
  std::span<const RecognizerJob> jobs_;
  RecognizerObserver& observer_;
  std::vector<std::unique_ptr<OpenJob>> open_;
  size_t next_job_ = 0;
  bool begun_ = false;                                      // a batch has been taken
  std::vector<std::optional<Result<Transcript>>> results_;  // ended, not yet reported
  size_t next_report_ = 0;
};

}  // namespace mynah
