#include "jobs/journal.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "jobs/job_rows.h"
#include "jobs/journal_store.h"

namespace mynah::jobs {
namespace {

// 128 random bits: nobody guesses another's.
std::string new_id() {
  std::random_device random;
  return fmt::format("job_{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::unexpected<Error> no_such_job() {
  return fail(ErrorCode::NotFound, "there is no such job");
}

}  // namespace

Status Journal::write(const std::function<Status()>& work) const {
  return database_.in_transaction([&]() -> Status {
    MYNAH_TRY_STATUS(work());
    MYNAH_TRY(Statement time,
              database_.prepare("INSERT OR REPLACE INTO meta(name, value) VALUES('clock', ?)"));
    return time.bind(clock_.now_ms()).run();
  });
}

Result<std::vector<Job>> Journal::rows(Statement statement) const {
  std::vector<Job> all;
  while (true) {
    MYNAH_TRY(const bool more, statement.step());
    if (!more) {
      return all;
    }
    all.push_back(read_job(statement));
  }
}

Result<Job> Journal::row(const std::string& owner, const std::string& id) const {
  MYNAH_TRY(Statement select, select_jobs(database_, "WHERE id = ? AND owner = ?"));
  select.bind(id).bind(owner);
  MYNAH_TRY(auto found, rows(std::move(select)));
  if (found.empty()) {
    return no_such_job();
  }
  return std::move(found.front());
}

Result<std::optional<Job>> Journal::still_taken(const Job& job) const {
  auto now = row(job.request.owner, job.id);
  if (!now) {
    if (now.error().code == ErrorCode::NotFound) {
      return std::optional<Job>();
    }
    return std::unexpected(std::move(now).error());
  }
  const bool same = now->state == JobState::Running && now->attempts == job.attempts;
  return same ? std::optional(*std::move(now)) : std::nullopt;
}

Job Journal::with_progress(Job job) const {
  if (const auto active = active_.find(job.id); active != active_.end()) {
    job.progress = active->second.progress;
  }
  return job;
}

void Journal::changed(const std::string& id) {
  active_[id].changed = ++version_;
  changes_.notify_all();
}

Result<Job> Journal::add(const JobRequest& request, const InputFile& recording) {
  Job job;
  job.id = new_id();
  job.request = request;
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = std::ranges::count_if(
        active_, [&](const auto& one) { return one.second.owner == request.owner; });
    if (waiting >= options_.most_waiting) {
      return fail(ErrorCode::Busy, fmt::format("{} jobs wait already: come again later", waiting));
    }
    job.created_ms = clock_.now_ms();
  }
  // The disk is slow: others need not wait for it.
  if (Status kept = uploads_.keep(job, recording); !kept) {
    uploads_.remove(job.id);
    return std::unexpected(std::move(kept).error());
  }
  const std::lock_guard lock(mutex_);
  if (Status written = write([&] { return insert_job(database_, job); }); !written) {
    uploads_.remove(job.id);
    return std::unexpected(std::move(written).error());
  }
  active_[job.id].owner = request.owner;
  changed(job.id);
  ++offers_;
  work_.notify_all();
  return job;
}

Result<std::optional<Job>> Journal::next_to_hear() const {
  const auto queued = static_cast<int64_t>(JobState::Queued);
  MYNAH_TRY(Statement owners, database_.prepare("SELECT owner, min(number) FROM jobs WHERE state = "
                                                "? GROUP BY owner"));
  owners.bind(queued);
  std::optional<std::string> next;
  std::pair<uint64_t, int64_t> least;
  while (true) {
    MYNAH_TRY(const bool more, owners.step());
    if (!more) {
      break;
    }
    std::string owner = owners.text(0);
    const auto turn = turns_.find(owner);
    const std::pair place(turn == turns_.end() ? 0 : turn->second, owners.integer(1));
    if (!next || place < least) {
      next = std::move(owner);
      least = place;
    }
  }
  if (!next) {
    return std::optional<Job>();
  }
  MYNAH_TRY(Statement select, select_jobs(database_,
                                          "WHERE state = ? AND owner = ? ORDER BY "
                                          "attempts, number LIMIT 1"));
  select.bind(queued).bind(*next);
  MYNAH_TRY(auto found, rows(std::move(select)));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

Result<std::optional<TakenJob>> Journal::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    MYNAH_TRY(auto next, next_to_hear());
    if (!next) {
      const uint64_t seen = offers_;
      work_.wait(lock, stop, [&] { return offers_ != seen; });
      continue;
    }
    Job job = *std::move(next);
    auto recording = uploads_.open(job.id);
    if (job.error || !recording) {
      job.error = job.error ? job.error : Error(std::move(recording).error());
      MYNAH_TRY_STATUS(end(job, JobState::Failed, {}));
      continue;
    }
    job.state = JobState::Running;
    ++job.attempts;
    job.started_ms = clock_.now_ms();
    MYNAH_TRY_STATUS(write([&] { return update_job(database_, job); }));
    turns_[job.request.owner] = ++turn_;
    changed(job.id);
    return TakenJob{.job = std::move(job), .recording = *std::move(recording)};
  }
  return std::optional<TakenJob>();
}

void Journal::report(const std::string& id, JobProgress progress) {
  const std::lock_guard lock(mutex_);
  if (const auto active = active_.find(id); active != active_.end()) {
    active->second.progress = std::move(progress);
    changed(id);
  }
}

Status Journal::end(Job& job, JobState state, const std::vector<Rendition>& renditions) {
  job.state = state;
  job.ended_ms = clock_.now_ms();
  job.expires_ms = job.ended_ms + options_.keep_results.count();
  job.webhook_state = job.request.webhook.empty() ? WebhookState::None : WebhookState::Pending;
  const auto put = [&]() -> Status {
    MYNAH_TRY_STATUS(update_job(database_, job));
    for (const Rendition& rendition : renditions) {
      MYNAH_TRY_STATUS(insert_rendition(database_, job.number, rendition));
    }
    return {};
  };
  MYNAH_TRY_STATUS(write(put));
  uploads_.remove(job.id);
  active_.erase(job.id);
  ++ended_[state];
  ++offers_;
  work_.notify_all();
  changes_.notify_all();
  return {};
}

Result<bool> Journal::finish(const Job& job, const JobResult& result) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(auto now, still_taken(job));
  if (!now) {
    return false;
  }
  now->progress = {.heard_s = result.length_s, .length_s = result.length_s, .text = result.text};
  now->model = result.model;
  now->device = result.device;
  MYNAH_TRY_STATUS(end(*now, JobState::Done, result.renditions));
  return true;
}

Result<bool> Journal::fail_with(const Job& job, const Error& error) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(auto now, still_taken(job));
  if (!now) {
    return false;
  }
  now->error = error;
  MYNAH_TRY_STATUS(end(*now, JobState::Failed, {}));
  return true;
}

Result<bool> Journal::put_back(const Job& job) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(auto now, still_taken(job));
  if (!now) {
    return false;
  }
  now->state = JobState::Queued;
  --now->attempts;
  MYNAH_TRY_STATUS(write([&] { return update_job(database_, *now); }));
  active_[job.id].progress = {};
  changed(job.id);
  ++offers_;
  work_.notify_all();
  return true;
}

Result<Job> Journal::cancel(const std::string& owner, const std::string& id) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Job job, row(owner, id));
  if (!has_ended(job.state)) {
    MYNAH_TRY_STATUS(end(job, JobState::Cancelled, {}));
  }
  return job;
}

Status Journal::forget_deleted() const {
  return database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

Status Journal::delete_row(int64_t number) const {
  return write([&]() -> Status {
    MYNAH_TRY(Statement remove, database_.prepare("DELETE FROM jobs WHERE number = ?"));
    return remove.bind(number).run();
  });
}

Status Journal::remove(const std::string& owner, const std::string& id) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Job job, row(owner, id));
  if (!has_ended(job.state)) {
    // First ended, with its recording gone: an end of the process here must not bring it back.
    job.request.webhook.clear();
    MYNAH_TRY_STATUS(end(job, JobState::Cancelled, {}));
  }
  MYNAH_TRY_STATUS(delete_row(job.number));
  return forget_deleted();
}

Result<Job> Journal::find(const std::string& owner, const std::string& id) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Job job, row(owner, id));
  return with_progress(std::move(job));
}

Result<std::vector<Job>> Journal::list(const std::string& owner, int64_t before, int most) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Statement select,
            select_jobs(database_,
                        "WHERE owner = ? AND (? = 0 OR number < ?) ORDER BY number DESC "
                        "LIMIT ?"));
  select.bind(owner).bind(before).bind(before).bind(int64_t{most});
  MYNAH_TRY(auto found, rows(std::move(select)));
  for (Job& job : found) {
    job = with_progress(std::move(job));
  }
  return found;
}

Result<Rendition> Journal::result(const std::string& owner, const std::string& id,
                                  std::string_view format) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(const Job job, row(owner, id));
  return find_rendition(database_, job.number, format);
}

uint64_t Journal::wait_for_change(const std::string& id, uint64_t seen,
                                  std::chrono::milliseconds patience, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto news = [&] {
    const auto active = active_.find(id);
    return closed_ || active == active_.end() || active->second.changed > seen;
  };
  changes_.wait_for(lock, stop, patience, news);
  const auto active = active_.find(id);
  return active == active_.end() ? version_ : active->second.changed;
}

void Journal::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changes_.notify_all();
}

Status Journal::take_up() {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Statement select, select_jobs(database_, "WHERE state IN (?, ?) ORDER BY number"));
  select.bind(static_cast<int64_t>(JobState::Queued)).bind(static_cast<int64_t>(JobState::Running));
  MYNAH_TRY(auto all, rows(std::move(select)));
  for (Job& job : all) {
    if (job.error && uploads_.read(job.id)) {
      MYNAH_TRY_STATUS(delete_row(job.number));  // what lies beside the recording is not damaged
      continue;
    }
    if (!job.error && job.state == JobState::Running && job.attempts >= options_.most_attempts) {
      job.error = Error{ErrorCode::Io,
                        fmt::format("mynah ended {} times while it heard this: it is not tried "
                                    "again",
                                    job.attempts)};
    }
    if (job.error) {
      MYNAH_TRY_STATUS(end(job, JobState::Failed, {}));
      continue;
    }
    active_[job.id].owner = job.request.owner;
    if (job.state == JobState::Running) {
      job.state = JobState::Queued;
      MYNAH_TRY_STATUS(write([&] { return update_job(database_, job); }));
    }
  }
  return take_up_uploads();
}

Status Journal::take_up_uploads() {
  int taken_up = 0;
  for (const std::string& id : uploads_.tidy()) {
    if (active_.contains(id)) {
      continue;
    }
    MYNAH_TRY(Statement select, database_.prepare("SELECT 1 FROM jobs WHERE id = ?"));
    MYNAH_TRY(const bool has_ended_before, select.bind(id).step());
    auto job = uploads_.read(id);
    if (has_ended_before || !job) {
      // The process ended between a job's end and this; or before the upload was whole, so that it
      // was never acknowledged.
      uploads_.remove(id);
      continue;
    }
    MYNAH_TRY_STATUS(write([&] { return insert_job(database_, *job); }));
    active_[id].owner = job->request.owner;
    ++taken_up;
  }
  if (taken_up > 0) {
    tell(
        fmt::format("{} recordings were kept whose jobs the journal does not know: they wait "
                    "again",
                    taken_up));
  }
  return {};
}

Result<std::unique_ptr<JobStore>> open_journal(JournalOptions options) {
  MYNAH_TRY(StateFolder folder, open_state_folder(options));
  auto journal = std::make_unique<Journal>(std::move(options), std::move(folder));
  MYNAH_TRY_STATUS(journal->take_up());
  return journal;
}

}  // namespace mynah::jobs
