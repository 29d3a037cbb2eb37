// JobScheduler: windows of several recordings, decoded in batches, reported in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "speech/recognizer.h"
#include "speech/transcription_job.h"
#include "speech/window_model.h"

namespace mynah {

// One run over a list of jobs. As many are open as fill the batches under way, so memory does not
// grow with their number or length. A long run is shared out to the parts of the device, a batch
// each; what it gives is the same, in the same order.
class JobScheduler {
 public:
  // `options` must be those that the model's decoders accept; the others must outlive it.
  JobScheduler(const WindowModel& model, RecognizerOptions options, const VoiceDetector* voice,
               std::span<const RecognizerJob> jobs, RecognizerObserver& observer);

  // Ends every job, with an error where it has one. An error is the device's: what has not ended is
  // to be ended with it.
  Status run(const std::stop_token& stop);

  // Ends whatever has not ended with this error.
  void end_all(const Error& error);

 private:
  struct Heard {
    size_t ticket = 0;
    HeardWindow window;
  };

  struct OpenJob {
    size_t number = 0;
    std::unique_ptr<TranscriptionJob> job;
    Transcript transcript;       // segments reported so far
    std::optional<Error> error;  // of its audio; what was read before is still decoded
    WindowTimings timings;
    double audio_ms = 0;  // reading, decoding and voice activity
    size_t taken = 0;     // windows
    size_t accepted = 0;
    std::map<size_t, Heard> waiting;  // decoded before a window that was taken earlier
  };

  // A window of a batch and whose it is.
  struct Taken {
    OpenJob* owner = nullptr;
    size_t ticket = 0;
    size_t order = 0;  // among the job's windows
  };

  struct Batch {
    std::vector<Taken> taken;
    std::vector<WindowTask> tasks;
    std::vector<std::vector<float>> samples;  // of the tasks, where the recordings' may move
    std::vector<HeardWindow> heard;
    WindowTimings spent;
  };

  void open_next();
  // Up to `windows` windows.
  [[nodiscard]] Batch take_batch(size_t windows, const std::stop_token& stop);
  static Status decode(WindowDecoder& decoder, Batch& batch, const std::stop_token& stop);
  // Hands the texts to their jobs, each job's in the order of its windows; each part's time counts
  // as its share.
  void accept(Batch& batch, int parts);
  Status decode_batch(const std::stop_token& stop);

  // Into how many parts the rest is best shared out; 1 where it is too little.
  [[nodiscard]] int useful_parts() const;
  [[nodiscard]] size_t windows_left() const;
  Status run_in_parts(int parts, const std::stop_token& stop);
  // What one part does: batch after batch, until all is done.
  Status work(WindowDecoder& decoder, int parts, const std::stop_token& stop);

  void report_segments(OpenJob& open);
  void close_finished();
  void end(size_t number, Result<Transcript> result);
  void report_ended();

  const WindowModel& model_;
  RecognizerOptions options_;
  std::unique_ptr<WindowDecoder> decoder_;
  const VoiceDetector* voice_;
  std::span<const RecognizerJob> jobs_;
  RecognizerObserver& observer_;
  std::vector<std::unique_ptr<OpenJob>> open_;
  size_t next_job_ = 0;
  bool begun_ = false;                                      // a batch has been taken
  std::vector<std::optional<Result<Transcript>>> results_;  // ended, not yet reported
  size_t next_report_ = 0;

  // Of several parts. The mutex guards everything but a batch that is being decoded.
  std::mutex mutex_;
  std::condition_variable changed_;
  int decoding_ = 0;  // batches
  std::optional<Error> failure_;
};

}  // namespace mynah
