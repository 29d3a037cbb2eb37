// JobStore: jobs that outlive the process. What it acknowledged is on the disk, or wherever it
// keeps things, and ends exactly once.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "audio/input_file.h"
#include "jobs/job.h"

namespace mynah::jobs {

// A job that was taken to be heard, and its recording.
struct TakenJob {
  Job job;
  InputFile recording;
};

// Of all owners.
struct JobCounts {
  std::map<JobState, int64_t> kept;
  std::map<JobState, int64_t> ended;
};

// Thread-safe. Environment where it cannot be written to (no room, no right), Io where it is
// damaged; nothing has changed then. A job of another owner is NotFound.
class JobStore {
 public:
  virtual ~JobStore() = default;

  // Keeps recording and request; once it returns the job cannot be lost any more. Busy where too
  // many of this owner wait already.
  virtual Result<Job> add(const JobRequest& request, const InputFile& recording) = 0;

  // The next job to hear, waited for: owners take turns; of one owner's the one that was begun the
  // fewest times, then the oldest. It runs from now on. None: a stop is requested.
  virtual Result<std::optional<TakenJob>> take(const std::stop_token& stop) = 0;

  // How far a running job is. What has ended meanwhile is passed over.
  virtual void report(const std::string& id, JobProgress progress) = 0;

  // The end of a job that was taken. False: it was cancelled or removed meanwhile, and this is
  // forgotten.
  virtual Result<bool> finish(const Job& job, const JobResult& result) = 0;
  virtual Result<bool> fail_with(const Job& job, const Error& error) = 0;

  // A job that was taken waits again, as if it had not been.
  virtual Result<bool> put_back(const Job& job) = 0;

  // Ends a job that has not ended. The job as it is then.
  virtual Result<Job> cancel(const std::string& owner, const std::string& id) = 0;

  // Removes all that is known of a job, whatever its state.
  virtual Status remove(const std::string& owner, const std::string& id) = 0;

  virtual Result<Job> find(const std::string& owner, const std::string& id) = 0;

  // The newest first: at most `most` of those before `before` (0: of all).
  virtual Result<std::vector<Job>> list(const std::string& owner, int64_t before, int most) = 0;

  // NotFound where the job has no result, or none in that format.
  virtual Result<Rendition> result(const std::string& owner, const std::string& id,
                                   std::string_view format) = 0;

  // Waits for a change of a job behind `seen`, its end, `patience`, a stop, or close(). What to
  // pass as `seen` the next time.
  virtual uint64_t wait_for_change(const std::string& id, uint64_t seen,
                                   std::chrono::milliseconds patience,
                                   const std::stop_token& stop) = 0;

  // Nobody waits for changes any more.
  virtual void close() = 0;

  // The next job whose end is to be told, waited for. None: a stop is requested.
  virtual Result<std::optional<Job>> take_webhook(const std::stop_token& stop) = 0;

  // What came of telling it. `again_in`: when to try it next; none: no more.
  virtual Status webhook_told(const Job& job) = 0;
  virtual Status webhook_failed(const Job& job, const std::string& why,
                                std::optional<std::chrono::milliseconds> again_in) = 0;

  // How many there are in each state, and how many came to each end since the store was opened.
  virtual Result<JobCounts> counts() = 0;

  // Removes what has been kept long enough. How many.
  virtual Result<int> expire() = 0;
};

}  // namespace mynah::jobs
