#include "speech/job_scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tensor/device_error.h"

namespace mynah {
namespace {

// Whoever waits for the first words gets them before a whole batch is ready.
constexpr size_t kFirstWindows = 1;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

JobScheduler::JobScheduler(WindowQueue& queue, RecognizerOptions options,
                           const VoiceDetector* voice, std::span<const RecognizerJob> jobs,
                           RecognizerObserver& observer)
    : queue_(queue),
      options_(std::move(options)),
      voice_(voice),
      jobs_(jobs),
      observer_(observer),
      results_(jobs.size()) {}

void JobScheduler::open_next() {
  const size_t number = next_job_++;
  auto source = jobs_[number].open();
  if (!source) {
    end(number, std::unexpected(std::move(source).error()));
    return;
  }
  auto open = std::make_unique<OpenJob>();
  open->number = number;
  open->job = std::make_unique<TranscriptionJob>(queue_.model().header(), options_, voice_,
                                                 std::move(*source), number);
  open_.push_back(std::move(open));
}

std::vector<WindowTask> JobScheduler::take(size_t wanted, const std::stop_token& stop,
                                           std::vector<Taken>& taken) {
  const size_t most_open = out_ + wanted;
  std::vector<WindowTask> tasks;
  for (size_t i = 0; tasks.size() < wanted && !stop.stop_requested(); ++i) {
    while (i >= open_.size() && next_job_ < jobs_.size() && open_.size() < most_open) {
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
      taken.push_back({&open, ticket, open.taken++});
    }
  }
  return tasks;
}

// Files that are not open yet are taken for one window each.
size_t JobScheduler::windows_left() const {
  size_t left = jobs_.size() - next_job_;
  for (const auto& open : open_) {
    left += open->job->windows_left().value_or(0);
  }
  return left;
}

size_t JobScheduler::bring(size_t wanted, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  accept_told();  // before anything is waited for
  std::vector<Taken> taken;
  std::vector<WindowTask> tasks;
  if (!failure_) {
    const size_t most = begun_ ? wanted : kFirstWindows - out_;
    if (auto some = or_device_error([&] { return take(most, stop, taken); })) {
      tasks = *std::move(some);
    } else {
      failure_ = std::move(some).error();
    }
  }
  if (!tasks.empty()) {
    out_ += tasks.size();
    client_->submit(tasks, stop, [this, taken](size_t window, WindowQueue::Outcome outcome) {
      const std::lock_guard tell(told_mutex_);
      told_.push_back({.window = taken[window], .outcome = std::move(outcome)});
      changed_.notify_all();
    });
  } else if (out_ == 0 || failure_) {
    const std::lock_guard tell(told_mutex_);
    is_dry_ = true;
    changed_.notify_all();
  }
  return begun_ ? windows_left() : 0;
}

void JobScheduler::wait_for_news(const std::stop_token& stop) {
  std::unique_lock lock(told_mutex_);
  changed_.wait(lock, stop, [this] { return is_dry_ || !told_.empty(); });
  is_dry_ = false;
}

void JobScheduler::accept_told() {
  std::vector<Told> told;
  {
    const std::lock_guard lock(told_mutex_);
    told.swap(told_);
  }
  out_ -= told.size();
  for (Told& one : told) {
    if (one.outcome.heard) {
      accept(std::move(one));
    } else if (!failure_) {  // what is cancelled because of it is told of, too
      failure_ = one.outcome.heard.error();
    }
  }
  close_finished();
}

void JobScheduler::accept(Told told) {
  begun_ = true;
  OpenJob& owner = *told.window.owner;
  owner.timings.add(told.outcome.spent);
  observer_.on_window(owner.number, told.outcome.together);
  owner.waiting.try_emplace(told.window.order, told.window.ticket, *std::move(told.outcome.heard));
  while (!owner.waiting.empty() && owner.waiting.begin()->first == owner.accepted) {
    const Heard heard = std::move(owner.waiting.extract(owner.waiting.begin()).mapped());
    owner.job->accept(heard.ticket, heard.window);
    ++owner.accepted;
  }
  report_segments(owner);
}

void JobScheduler::report_segments(OpenJob& open) {
  for (Segment& segment : open.job->take_segments()) {
    observer_.on_segment(open.number, segment);
    open.transcript.segments.push_back(std::move(segment));
  }
  observer_.on_progress(open.number, open.job->done_s(), open.job->duration_s());
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
      const WindowDevices devices = queue_.model().devices();
      transcript.device = devices.text();
      const double vad_ms = open->job->vad_ms();
      transcript.timings = {{"audio", "cpu", open->audio_ms - vad_ms},
                            {"vad", voice_ != nullptr ? voice_->device() : "cpu", vad_ms},
                            {"stt.mel", devices.encoder, open->timings.mel_ms},
                            {"stt.encoder", devices.encoder, open->timings.encoder_ms},
                            {"stt.decoder", devices.decoder, open->timings.decoder_ms},
                            {"stt.words", devices.decoder, open->timings.words_ms}};
      end(open->number, std::move(transcript));
    }
    open.reset();
  }
  std::erase(open_, nullptr);
  report_ended();
}

void JobScheduler::end(size_t number, Result<Transcript> result) {
  if (result && number != next_report_) {
    observer_.on_finished(number, *result);
  }
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

Status JobScheduler::run(const std::stop_token& stop) {
  MYNAH_TRY(client_,
            queue_.client(options_.decoding,
                          {.urgency = options_.urgency,
                           .together = options_.cutting.batch,
                           .owner = options_.owner,
                           .refill = [this, stop](size_t wanted) { return bring(wanted, stop); },
                           .begun = [this] { observer_.on_begun(); }}));
  while (!stop.stop_requested()) {
    client_->ask_again();
    wait_for_news(stop);
    const std::lock_guard lock(mutex_);
    accept_told();
    if (failure_ || next_report_ == jobs_.size()) {
      break;
    }
  }
  client_->leave();
  if (stop.stop_requested()) {
    end_all({ErrorCode::Cancelled, "stopped before the end of the recording"});
    return {};
  }
  return failure_ ? std::unexpected(*failure_) : Status{};
}

}  // namespace mynah
