// Journal: a JobStore in a folder of this machine, SQLite's database and files beside it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "jobs/job_store.h"
#include "jobs/store_clock.h"

namespace mynah::jobs {

struct JournalOptions {
  std::string folder;
  std::chrono::milliseconds keep_results = std::chrono::days(7);
  int most_attempts = 3;     // that may begin and end with the process
  int most_waiting = 10000;  // jobs of one owner
  TimeSources time = TimeSources::of_system();
  // Told what somebody who runs the server should know, in a sentence. Empty: nobody.
  std::function<void(const std::string&)> tell = {};
  // Bytes that the database may have; 0: as many as the disk.
  int64_t most_bytes = 0;
};

// Opens the journal, made where there is none, and takes up what an end of the process
// interrupted: such jobs wait again, but those that were begun too often have failed. One that is
// damaged is moved aside, and what can be read of it is taken over. Busy where another process has
// the folder; Environment where it cannot be written to.
Result<std::unique_ptr<JobStore>> open_journal(JournalOptions options);

}  // namespace mynah::jobs
