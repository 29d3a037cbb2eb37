// The JobStore of a folder: what journal.cpp and journal_ends.cpp have in common.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/journal.h"
#include "jobs/state_folder.h"
#include "jobs/uploads.h"
#include "store/sqlite.h"

namespace mynah::jobs {

class Journal final : public JobStore {
 public:
  Journal(JournalOptions options, StateFolder folder)
      : options_(std::move(options)),
        uploads_(folder.uploads),
        lock_(std::move(folder.lock)),
        database_(std::move(folder.database)),
        clock_(options_.time, folder.last_ms) {}

  // What the process before left.
  Status take_up();

  Result<Job> add(const JobRequest& request, const InputFile& recording) override;
  Result<std::optional<TakenJob>> take(const std::stop_token& stop) override;
  void report(const std::string& id, JobProgress progress) override;
  Result<bool> finish(const Job& job, const JobResult& result) override;
  Result<bool> fail_with(const Job& job, const Error& error) override;
  Result<bool> put_back(const Job& job) override;
  Result<Job> cancel(const std::string& owner, const std::string& id) override;
  Status remove(const std::string& owner, const std::string& id) override;
  Result<Job> find(const std::string& owner, const std::string& id) override;
  Result<std::vector<Job>> list(const std::string& owner, int64_t before, int most) override;
  Result<Rendition> result(const std::string& owner, const std::string& id,
                           std::string_view format) override;
  uint64_t wait_for_change(const std::string& id, uint64_t seen, std::chrono::milliseconds patience,
                           const std::stop_token& stop) override;
  void close() override;
  Result<std::optional<Job>> take_webhook(const std::stop_token& stop) override;
  Status webhook_told(const Job& job) override;
  Status webhook_failed(const Job& job, const std::string& why,
                        std::optional<std::chrono::milliseconds> again_in) override;
  Result<JobCounts> counts() override;
  Result<int> expire() override;

 private:
  // A job that has not ended, as far as it is known beyond its row.
  struct Active {
    std::string owner;
    JobProgress progress;
    uint64_t changed = 0;
  };

  // All of these hold the mutex.

  Status write(const std::function<Status()>& work) const;
  [[nodiscard]] Result<std::vector<Job>> rows(Statement statement) const;
  [[nodiscard]] Result<Job> row(const std::string& owner, const std::string& id) const;
  // The taken job as it is now; none: it was cancelled, removed, or taken by another.
  [[nodiscard]] Result<std::optional<Job>> still_taken(const Job& job) const;
  // The job that is to be heard next.
  [[nodiscard]] Result<std::optional<Job>> next_to_hear() const;
  // Writes an end down, then lets go of the recording.
  Status end(Job& job, JobState state, const std::vector<Rendition>& renditions);
  void changed(const std::string& id);
  // When the next end is to be told that is not yet; 0: there is none.
  [[nodiscard]] Result<int64_t> next_webhook_ms() const;
  Status delete_row(int64_t number) const;
  // What the log of changes has of deleted rows goes, too.
  Status forget_deleted() const;
  [[nodiscard]] Job with_progress(Job job) const;
  // What lies in the folder of uploads and has no row: the journal's loss, or the end of a process
  // between the two.
  Status take_up_uploads();

  void tell(const std::string& text) const {
    if (options_.tell) {
      options_.tell(text);
    }
  }

  JournalOptions options_;
  Uploads uploads_;
  FileLock lock_;
  Database database_;
  StoreClock clock_;

  mutable std::mutex mutex_;
  std::condition_variable_any work_;     // jobs to take, ends to tell
  std::condition_variable_any changes_;  // of jobs that are watched
  std::map<std::string, Active> active_;
  std::map<std::string, uint64_t> turns_;  // when an owner had its last one
  uint64_t turn_ = 0;
  std::map<JobState, int64_t> ended_;  // how many came to each end
  std::set<int64_t> telling_;          // jobs whose end is being told
  uint64_t version_ = 0;
  uint64_t offers_ = 0;  // how often there was something new to take or to tell
  bool closed_ = false;
};

}  // namespace mynah::jobs
