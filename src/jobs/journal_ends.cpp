// What becomes of jobs that have ended: who is told, and when they are forgotten.
#include <algorithm>
#include <utility>

#include "jobs/job_rows.h"
#include "jobs/journal_store.h"

namespace mynah::jobs {

Result<std::optional<Job>> Journal::take_webhook(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    MYNAH_TRY(Statement select,
              select_jobs(database_,
                          "WHERE webhook_state = ? AND webhook_due_ms <= ? ORDER BY "
                          "webhook_due_ms, number LIMIT 8"));
    select.bind(static_cast<int64_t>(WebhookState::Pending)).bind(clock_.now_ms());
    MYNAH_TRY(auto due, rows(std::move(select)));
    for (Job& job : due) {
      if (telling_.insert(job.number).second) {
        return std::optional(std::move(job));
      }
    }
    MYNAH_TRY(const int64_t at, next_webhook_ms());
    const uint64_t seen = offers_;
    const auto offered = [&] { return offers_ != seen; };
    if (at > 0) {
      work_.wait_for(lock, stop,
                     std::chrono::milliseconds(std::max<int64_t>(at - clock_.now_ms(), 1)),
                     offered);
    } else {
      work_.wait(lock, stop, offered);
    }
  }
  return std::optional<Job>();
}

Result<int64_t> Journal::next_webhook_ms() const {
  MYNAH_TRY(Statement next, database_.prepare("SELECT min(webhook_due_ms) FROM jobs WHERE "
                                              "webhook_state = ? AND webhook_due_ms > ?"));
  next.bind(static_cast<int64_t>(WebhookState::Pending)).bind(clock_.now_ms());
  MYNAH_TRY(const bool found, next.step());
  return found ? next.integer(0) : 0;
}

Status Journal::webhook_told(const Job& job) {
  const std::lock_guard lock(mutex_);
  telling_.erase(job.number);
  return write([&]() -> Status {
    MYNAH_TRY(Statement update,
              database_.prepare("UPDATE jobs SET webhook_state = ?, webhook_tries = "
                                "webhook_tries + 1, webhook_error = '' WHERE number = ?"));
    return update.bind(static_cast<int64_t>(WebhookState::Delivered)).bind(job.number).run();
  });
}

Status Journal::webhook_failed(const Job& job, const std::string& why,
                               std::optional<std::chrono::milliseconds> again_in) {
  const std::lock_guard lock(mutex_);
  telling_.erase(job.number);
  ++offers_;
  work_.notify_all();
  return write([&]() -> Status {
    MYNAH_TRY(Statement update,
              database_.prepare("UPDATE jobs SET webhook_state = ?, webhook_tries = "
                                "webhook_tries + 1, webhook_error = ?, webhook_due_ms = ? WHERE "
                                "number = ?"));
    update.bind(static_cast<int64_t>(again_in ? WebhookState::Pending : WebhookState::GivenUp));
    update.bind(why).bind(clock_.now_ms() + again_in.value_or(std::chrono::milliseconds()).count());
    return update.bind(job.number).run();
  });
}

Result<JobCounts> Journal::counts() {
  const std::lock_guard lock(mutex_);
  JobCounts counts{.kept = {}, .ended = ended_};
  MYNAH_TRY(Statement select, database_.prepare("SELECT state, count(*) FROM jobs GROUP BY state"));
  while (true) {
    MYNAH_TRY(const bool more, select.step());
    if (!more) {
      return counts;
    }
    counts.kept[static_cast<JobState>(select.integer(0))] = select.integer(1);
  }
}

Result<int> Journal::expire() {
  const std::lock_guard lock(mutex_);
  int64_t expired = 0;
  const auto remove = [&]() -> Status {
    MYNAH_TRY(Statement old, database_.prepare("DELETE FROM jobs WHERE expires_ms > 0 AND "
                                               "expires_ms <= ? AND webhook_state != ?"));
    old.bind(clock_.now_ms()).bind(static_cast<int64_t>(WebhookState::Pending));
    MYNAH_TRY_STATUS(old.run());
    expired = database_.changed();
    return {};
  };
  MYNAH_TRY_STATUS(write(remove));
  if (expired > 0) {
    MYNAH_TRY_STATUS(forget_deleted());
  }
  return static_cast<int>(expired);
}

}  // namespace mynah::jobs
