// JobScheduler: windows of several recordings, heard by way of a queue, reported in order.
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
#include "speech/window_queue.h"

namespace mynah {

// One run over a list of jobs. Recordings are read by the queue's threads when it can hear more, as
// many as it asks for: memory does not grow with their number or length. What it gives is the same,
// in the same order, whoever else is heard meanwhile.
class JobScheduler {
 public:
  // `options` must be those that the model's decoders accept; the others must outlive it.
  JobScheduler(WindowQueue& queue, RecognizerOptions options, const VoiceDetector* voice,
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

  // Whose a window is.
  struct Taken {
    OpenJob* owner = nullptr;
    size_t ticket = 0;
    size_t order = 0;  // among the job's windows
  };

  struct Told {
    Taken window;
    WindowQueue::Outcome outcome;
  };

  void open_next();
  [[nodiscard]] size_t windows_left() const;
  // The queue's threads ask for so many windows; returns about how many are left.
  size_t bring(size_t wanted, const std::stop_token& stop);
  // Up to so many windows, whose they are, of jobs that are open or are opened for it. Fewer: the
  // others wait for what is out, or there are no more.
  [[nodiscard]] std::vector<WindowTask> take(size_t wanted, const std::stop_token& stop,
                                             std::vector<Taken>& taken);
  // Waits until windows were told of, or nothing more can be expected of the queue.
  void wait_for_news(const std::stop_token& stop);
  // Hands what was told of to its jobs, each job's in the order of its windows; wants mutex_.
  void accept_told();
  void accept(Told told);

  void report_segments(OpenJob& open);
  void close_finished();
  void end(size_t number, Result<Transcript> result);
  void report_ended();

  WindowQueue& queue_;
  RecognizerOptions options_;
  const VoiceDetector* voice_;
  std::span<const RecognizerJob> jobs_;
  RecognizerObserver& observer_;
  std::vector<std::unique_ptr<OpenJob>> open_;
  size_t next_job_ = 0;
  bool begun_ = false;                                      // a window was heard
  size_t out_ = 0;                                          // windows that are not told of yet
  std::vector<std::optional<Result<Transcript>>> results_;  // ended, not yet reported
  size_t next_report_ = 0;
  std::optional<Error> failure_;  // the device's

  std::mutex mutex_;  // guards everything but these

  std::mutex told_mutex_;
  std::condition_variable_any changed_;
  std::vector<Told> told_;                       // the queue's threads add to it
  bool is_dry_ = false;                          // nothing more can be expected of the queue
  std::unique_ptr<WindowQueue::Client> client_;  // the first to go
};

}  // namespace mynah
