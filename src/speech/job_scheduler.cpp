#include "speech/job_scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tensor/device_error.h"

namespace mynah {
namespace {

// Whoever waits for the first words gets them before a whole batch is ready.
constexpr size_t kFirstBatch = 1;

// Windows of a part that make up for its doing without the others' threads at the end.
constexpr size_t kFewWindowsOfPart = 4;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

size_t most_windows(const RecognizerOptions& options) {
  return static_cast<size_t>(std::max(1, options.cutting.batch));
}

}  // namespace

JobScheduler::JobScheduler(const WindowModel& model, RecognizerOptions options,
                           const VoiceDetector* voice, std::span<const RecognizerJob> jobs,
                           RecognizerObserver& observer)
    : model_(model),
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
  open->job = std::make_unique<TranscriptionJob>(model_.header(), options_, voice_,
                                                 std::move(*source), number);
  open_.push_back(std::move(open));
}

JobScheduler::Batch JobScheduler::take_batch(size_t windows, const std::stop_token& stop) {
  const size_t wanted = std::exchange(begun_, true) ? windows : std::min(windows, kFirstBatch);
  const size_t most_open = wanted * static_cast<size_t>(decoding_ + 1);
  Batch batch;
  std::vector<WindowTask>& tasks = batch.tasks;
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
      batch.taken.push_back({&open, ticket, open.taken++});
    }
  }
  return batch;
}

Status JobScheduler::decode(WindowDecoder& decoder, Batch& batch, const std::stop_token& stop) {
  const WindowTimings before = decoder.timings();
  MYNAH_TRY(batch.heard, decoder.decode(batch.tasks, stop));
  batch.spent = decoder.timings().since(before);
  return {};
}

void JobScheduler::accept(Batch& batch, int parts) {
  const double share = 1.0 / (static_cast<double>(batch.taken.size()) * parts);
  for (size_t i = 0; i < batch.taken.size(); ++i) {
    OpenJob& owner = *batch.taken[i].owner;
    owner.timings.add(batch.spent, share);  // a batch's time is shared by its windows
    owner.waiting.try_emplace(batch.taken[i].order, batch.taken[i].ticket,
                              std::move(batch.heard[i]));
    while (!owner.waiting.empty() && owner.waiting.begin()->first == owner.accepted) {
      const Heard heard = std::move(owner.waiting.extract(owner.waiting.begin()).mapped());
      owner.job->accept(heard.ticket, heard.window);
      ++owner.accepted;
    }
    report_segments(owner);
  }
}

void JobScheduler::report_segments(OpenJob& open) {
  for (Segment& segment : open.job->take_segments()) {
    observer_.on_segment(open.number, segment);
    open.transcript.segments.push_back(std::move(segment));
  }
  observer_.on_progress(open.number, open.job->done_s(), open.job->duration_s());
}

Status JobScheduler::decode_batch(const std::stop_token& stop) {
  Batch batch = take_batch(most_windows(options_), stop);
  if (batch.tasks.empty() || stop.stop_requested()) {
    return {};
  }
  MYNAH_TRY_STATUS(decode(*decoder_, batch, stop));
  if (!stop.stop_requested()) {  // else texts are unfinished
    accept(batch, 1);
  }
  return {};
}

// Files that are not open yet are taken for one window each.
size_t JobScheduler::windows_left() const {
  size_t left = jobs_.size() - next_job_;
  for (const auto& open : open_) {
    left += open->job->windows_left().value_or(0);
  }
  return left;
}

int JobScheduler::useful_parts() const {
  const int parts = model_.parts();
  // Where more audio is waited for, a part that has text must not wait with it.
  const bool waits = std::ranges::any_of(
      open_, [](const auto& open) { return !open->job->windows_left().has_value(); });
  return !begun_ || waits || windows_left() < kFewWindowsOfPart * static_cast<size_t>(parts)
             ? 1
             : parts;
}

Status JobScheduler::work(WindowDecoder& decoder, int parts, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (next_report_ < jobs_.size() && !stop.stop_requested() && !failure_) {
    // Smaller batches towards the end, so that all parts come to it together.
    const size_t fair = windows_left() / static_cast<size_t>(parts) + 1;
    Batch batch = take_batch(std::min(most_windows(options_), fair), stop);
    if (batch.tasks.empty()) {
      close_finished();
      if (decoding_ > 0) {
        changed_.wait(lock);
      }
      continue;
    }
    for (WindowTask& task : batch.tasks) {
      batch.samples.emplace_back(task.samples.begin(), task.samples.end());
      task.samples = batch.samples.back();
    }
    ++decoding_;
    lock.unlock();
    const Status decoded = decode(decoder, batch, stop);
    lock.lock();
    --decoding_;
    MYNAH_TRY_STATUS(decoded);
    if (stop.stop_requested()) {
      break;  // texts are unfinished
    }
    accept(batch, parts);
    close_finished();
    changed_.notify_all();
  }
  changed_.notify_all();
  return {};
}

Status JobScheduler::run_in_parts(int parts, const std::stop_token& stop) {
  std::vector<std::unique_ptr<WindowDecoder>> decoders;
  decoders.reserve(static_cast<size_t>(parts));
  for (int part = 0; part < parts; ++part) {
    MYNAH_TRY(auto decoder, model_.decoder(options_.decoding));
    decoders.push_back(std::move(decoder));
  }
  model_.run_parts(parts, [&](int part) {
    const Status worked =
        or_device_error([&] { return work(*decoders[static_cast<size_t>(part)], parts, stop); });
    if (!worked) {
      const std::lock_guard lock(mutex_);
      failure_ = worked.error();
      changed_.notify_all();
    }
  });
  return failure_ ? std::unexpected(*failure_) : Status{};
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
      const WindowDevices devices = model_.devices();
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
  MYNAH_TRY(decoder_, model_.decoder(options_.decoding));
  while (next_report_ < jobs_.size()) {
    if (stop.stop_requested()) {
      end_all({ErrorCode::Cancelled, "stopped before the end of the recording"});
      return {};
    }
    if (const int parts = useful_parts(); parts > 1) {
      MYNAH_TRY_STATUS(run_in_parts(parts, stop));
    } else {
      MYNAH_TRY_STATUS(decode_batch(stop));
      close_finished();
    }
  }
  return {};
}

}  // namespace mynah
