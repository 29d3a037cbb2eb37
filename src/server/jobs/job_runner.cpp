#include "server/jobs/job_runner.h"

#include <chrono>
#include <utility>

#include "audio/open.h"
#include "base/ascii.h"
#include "server/hear/hear_file.h"
#include "server/hear/transcript_answer.h"
#include "server/hear/transcription_request.h"
#include "server/jobs/job_request.h"
#include "server/jobs/pause.h"

namespace mynah::server {
namespace {

constexpr std::chrono::seconds kBusyPause{1};
constexpr std::chrono::seconds kDiskPause{5};

// Reports how far a job is.
class JobObserver final : public RecognizerObserver {
 public:
  JobObserver(jobs::JobStore& store, std::string id) : store_(store), id_(std::move(id)) {}

  void on_segment(size_t /*job*/, const Segment& segment) override {
    text_ += segment.text;
    progress_.text = trimmed(text_, " ");  // as text_of_whole() has all of it
    store_.report(id_, progress_);
  }

  void on_progress(size_t /*job*/, double done_s, std::optional<double> length_s) override {
    progress_.heard_s = done_s;
    progress_.length_s = length_s;
    store_.report(id_, progress_);
  }

  void on_done(size_t /*job*/, const Result<Transcript>& result) override { result_ = result; }

  Result<Transcript> take() { return std::move(result_); }

 private:
  jobs::JobStore& store_;
  std::string id_;
  std::string text_;
  jobs::JobProgress progress_;
  Result<Transcript> result_ = fail(ErrorCode::Cancelled, "nothing was heard");
};

jobs::JobResult result_of(const Transcript& transcript, const TranscriptionRequest& request,
                          const Hearing& hearing) {
  jobs::JobResult result;
  result.text = text_of_whole(transcript);
  result.length_s = transcript.duration_s;
  result.model = hearing.name;
  result.device = hearing.lease->device();
  for (const TranscriptAnswer answer : kTranscriptAnswers) {
    Response written = transcript_answer(transcript, answer, request, *hearing.lease->recognizer);
    result.renditions.push_back({.format = std::string(name(answer)),
                                 .type = std::move(written.type),
                                 .text = std::move(written.body)});
  }
  return result;
}

}  // namespace

JobRunner::JobRunner(jobs::JobStore& store, Service& service, std::string media_program,
                     size_t at_once, std::function<void(const std::string&)> tell)
    : store_(store),
      service_(service),
      media_program_(std::move(media_program)),
      tell_(std::move(tell)) {
  for (size_t i = 0; i < at_once; ++i) {
    threads_.emplace_back([this](const std::stop_token& end) { serve(end); });
  }
}

JobRunner::~JobRunner() {
  stop();
}

void JobRunner::stop() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
}

void JobRunner::let_go(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (const auto running = running_.find(id); running != running_.end()) {
    running->second.request_stop();
  }
}

void JobRunner::serve(const std::stop_token& end) {
  while (!end.stop_requested()) {
    auto taken = store_.take(end);
    if (!taken) {
      tell_("no job can be taken: " + taken.error().message);
      static_cast<void>(pause_for(kDiskPause, end));
    } else if (*taken) {
      run(**std::move(taken), end);
    }
  }
}

void JobRunner::run(jobs::TakenJob taken, const std::stop_token& end) {
  const jobs::Job& job = taken.job;
  std::stop_source source;
  {
    const std::lock_guard lock(mutex_);
    running_.emplace(job.id, source);
  }
  const std::stop_callback on_end(end, [&source] { source.request_stop(); });
  // It may have been cancelled before anybody knew whom to tell.
  const auto now = store_.find(job.request.owner, job.id);
  if (!now || now->state == jobs::JobState::Running) {
    Result<jobs::JobResult> result = hear(taken, source.get_token());
    while (!result && result.error().code == ErrorCode::Busy &&
           pause_for(kBusyPause, source.get_token())) {
      result = hear(taken, source.get_token());
    }
    write_down(job, result, end);
  }
  const std::lock_guard lock(mutex_);
  running_.erase(job.id);
}

Result<jobs::JobResult> JobRunner::hear(const jobs::TakenJob& taken, const std::stop_token& stop) {
  MYNAH_TRY(const JobParameters parameters, parse_job_parameters(taken.job.request.parameters));
  auto request = parse_transcription(parameters.body, parameters.task);
  if (!request) {
    return std::unexpected(request.error().error);
  }
  request->options.urgency = Urgency::Bulk;
  request->options.owner = taken.job.request.owner;
  MYNAH_TRY(const Hearing hearing, service_.hearing(request->model));
  MYNAH_TRY_STATUS(hearing.lease->recognizer->check(request->options));
  AudioOpenOptions audio;
  audio.media_program = media_program_;
  audio.stop = stop;
  JobObserver observer(store_, taken.job.id);
  const RecognizerJob job{.name = parameters.file_name,
                          .open = [&]() -> Result<std::unique_ptr<AudioSource>> {
                            MYNAH_TRY(InputFile recording, duplicate(taken.recording));
                            // Another try begins at the beginning.
                            if (::lseek(recording.fd.get(), 0, SEEK_SET) != 0) {
                              return fail(ErrorCode::Io, "the recording cannot be read");
                            }
                            recording.name = parameters.file_name;
                            return open_audio(std::move(recording), audio);
                          }};
  server::hear(job, request->options, hearing, observer, stop);
  MYNAH_TRY(const Transcript transcript, observer.take());
  return result_of(transcript, *request, hearing);
}

void JobRunner::write_down(const jobs::Job& job, const Result<jobs::JobResult>& result,
                           const std::stop_token& end) {
  const bool stopped = !result && end.stop_requested();
  bool told = false;
  while (true) {
    const auto written = stopped  ? store_.put_back(job)
                         : result ? store_.finish(job, *result)
                                  : store_.fail_with(job, result.error());
    if (written) {
      return;
    }
    if (!told) {
      tell_("the end of a job cannot be written down, it is tried again: " +
            written.error().message);
      told = true;
    }
    // Where the server ends before it can be, the job is heard again.
    if (!pause_for(kDiskPause, end)) {
      return;
    }
  }
}

}  // namespace mynah::server
