// StateFolder: where a journal keeps its files, held by one process at a time.
#pragma once

#include <cstdint>
#include <string>

#include "jobs/journal.h"
#include "store/files.h"
#include "store/sqlite.h"

namespace mynah::jobs {

struct StateFolder {
  FileLock lock;
  Database database;
  int64_t last_ms = 0;  // the latest time in it
  std::string uploads;  // a folder
};

// As open_journal(), but for what is in the database.
Result<StateFolder> open_state_folder(const JournalOptions& options);

}  // namespace mynah::jobs
