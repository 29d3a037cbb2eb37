#include "speech/job_scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mynah {
namespace {

// Whoever waits for the first words gets them before a whole batch is ready.
constexpr int kFirstBatch = 1;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// A batch's time is shared by its windows.
void share(WindowTimings& sum, const WindowTimings& before, const WindowTimings& after,
           double part) {
  sum.mel_ms += (after.mel_ms - before.mel_ms) * part;
  sum.encoder_ms += (after.encoder_ms - before.encoder_ms) * part;
  sum.decoder_ms += (after.decoder_ms - before.decoder_ms) * part;
  sum.words_ms += (after.words_ms - before.words_ms) * part;
}

}  // namespace

void JobScheduler::open_next() {
  const size_t number = next_job_++;
  auto source = jobs_[number].open();
  if (!source) {
    end(number, std::unexpected(std::move(source).error()));
    return;
  }
  auto open = std::make_unique<OpenJob>();
  open->number = number;
  open->job = std::make_unique<TranscriptionJob>(decoder_.model(), decoder_.options(), voice_,
                                                 std::move(*source), number);
  open_.push_back(std::move(open));
}

std::vector<WindowTask> JobScheduler::take_batch(std::vector<Taken>& taken,
                                                 const std::stop_token& stop) {
  const int most = std::max(1, decoder_.options().batch);
  const auto wanted =
      static_cast<size_t>(std::exchange(begun_, true) ? most : std::min(most, kFirstBatch));
  std::vector<WindowTask> tasks;
  for (size_t i = 0; tasks.size() < wanted && !stop.stop_requested(); ++i) {
    while (i >= open_.size() && next_job_ < jobs_.size() && open_.size() < wanted) {
      open_next();
    }
    if (i >= open_.size()) {
      break;
    }
    OpenJob& open = *open_[i];
    const auto start = std::chrono::steady_clock::now();
    if (Status read = open.job->read_ahead(wanted - tasks.size(), stop); !read) {
      open.error = std::move(read).error();
    }
    open.audio_ms += milliseconds_since(start);
    size_t ticket = 0;
    while (tasks.size() < wanted) {
      auto task = open.job->next_window(ticket);
      if (!task) {
        break;
      }
      tasks.push_back(std::move(*task));
      taken.push_back({&open, ticket});
    }
  }
  return tasks;
}

void JobScheduler::report_segments(OpenJob& open) {
  for (Segment& segment : open.job->take_segments()) {
    observer_.on_segment(open.number, segment);
    open.transcript.segments.push_back(std::move(segment));
  }
  observer_.on_progress(open.number, open.job->done_s(), open.job->duration_s());
}

void JobScheduler::decode_batch(const std::stop_token& stop) {
  std::vector<Taken> taken;
  const std::vector<WindowTask> tasks = take_batch(taken, stop);
  if (tasks.empty() || stop.stop_requested()) {
    return;
  }
  const WindowTimings before = decoder_.timings();
  const std::vector<WindowText> texts = decoder_.decode(tasks, stop);
  if (stop.stop_requested()) {
    return;  // texts are unfinished
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    OpenJob& owner = *taken[i].owner;
    share(owner.timings, before, decoder_.timings(), 1.0 / static_cast<double>(taken.size()));
    owner.job->accept(taken[i].ticket, texts[i]);
    report_segments(owner);
  }
}

void JobScheduler::close_finished() {
  for (auto& open : open_) {
    if (!open->job->finished()) {
      continue;
    }
    report_segments(*open);
    if (open->error) {
      end(open->number, std::unexpected(std::move(*open->error)));
    } else {
      Transcript transcript = open->job->summary();
      transcript.segments = std::move(open->transcript.segments);
      const std::string device = transcript.device;
      const double vad_ms = open->job->vad_ms();
      transcript.timings = {{"audio", "cpu", open->audio_ms - vad_ms},
                            {"vad", device, vad_ms},
                            {"stt.mel", device, open->timings.mel_ms},
                            {"stt.encoder", device, open->timings.encoder_ms},
                            {"stt.decoder", device, open->timings.decoder_ms},
                            {"stt.words", device, open->timings.words_ms}};
      end(open->number, std::move(transcript));
    }
    open.reset();
  }
  std::erase(open_, nullptr);
  report_ended();
}

void JobScheduler::end(size_t number, Result<Transcript> result) {
  results_[number] = std::move(result);
}

void JobScheduler::report_ended() {
  while (next_report_ < results_.size() && results_[next_report_]) {
    const Result<Transcript> result = std::move(*results_[next_report_]);
    results_[next_report_].reset();
    observer_.on_done(next_report_++, result);
  }
}

void JobScheduler::end_all(const Error& error) {
  for (size_t i = next_report_; i < results_.size(); ++i) {
    if (!results_[i]) {
      results_[i] = std::unexpected(error);
    }
  }
  open_.clear();
  report_ended();
}

void JobScheduler::run(const std::stop_token& stop) {
  while (next_report_ < jobs_.size()) {
    if (stop.stop_requested()) {
      end_all({ErrorCode::Cancelled, "stopped before the end of the recording"});
      return;
    }
    decode_batch(stop);
    close_finished();
  }
}

}  // namespace mynah
