#include "jobs/state_folder.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "jobs/job_rows.h"
#include "jobs/salvage.h"

namespace mynah::jobs {
namespace {

std::string uploads_of(const std::string& folder) {
  return folder + "/uploads";
}

Result<FileLock> lock_folder(const std::string& folder) {
  auto lock = FileLock::take(folder + "/lock");
  if (!lock) {
    const bool taken = lock.error().code == ErrorCode::Busy;
    return taken ? fail(ErrorCode::Busy, fmt::format("another mynah serve keeps its jobs in {}: "
                                                     "--state-folder names one of its own",
                                                     folder))
                 : fail(ErrorCode::Environment, lock.error().message);
  }
  static_cast<void>(::chmod((folder + "/lock").c_str(), 0600));  // it is empty
  return lock;
}

Result<Database> open_database(const JournalOptions& options) {
  const std::string path = options.folder + "/jobs.db";
  std::string damage;
  {
    MYNAH_TRY(Database database, Database::open(path));
    const Status prepared = prepare_tables(database);
    if (!prepared && prepared.error().code != ErrorCode::Io) {
      return std::unexpected(prepared.error());
    }
    damage = prepared ? database.find_damage() : prepared.error().message;
    if (damage.empty()) {
      return database;
    }
  }
  MYNAH_TRY(const std::string aside, move_database_aside(path));
  MYNAH_TRY(Database fresh, Database::open(path));
  MYNAH_TRY_STATUS(prepare_tables(fresh));
  const Salvaged salvaged = salvage(aside, fresh);
  if (options.tell) {
    options.tell(
        fmt::format("the journal of jobs was damaged ({}): {} jobs could be read of it and are "
                    "kept, {} of them "
                    "without their text; what it was is {}",
                    damage, salvaged.jobs, salvaged.lost_results, aside));
  }
  return fresh;
}

Result<int64_t> last_time(const Database& database) {
  MYNAH_TRY(Statement select, database.prepare("SELECT value FROM meta WHERE name = 'clock'"));
  MYNAH_TRY(const bool found, select.step());
  return found ? select.integer(0) : 0;
}

}  // namespace

Result<StateFolder> open_state_folder(const JournalOptions& options) {
  for (const std::string& path : {options.folder, uploads_of(options.folder)}) {
    MYNAH_TRY_STATUS(make_private_folder(path));
  }
  MYNAH_TRY(FileLock lock, lock_folder(options.folder));
  MYNAH_TRY(Database database, open_database(options));
  if (options.most_bytes > 0) {
    constexpr int64_t kPage = 4096;
    MYNAH_TRY_STATUS(database.execute(
        fmt::format("PRAGMA max_page_count={}", std::max<int64_t>(options.most_bytes / kPage, 1))));
  }
  MYNAH_TRY(const int64_t last_ms, last_time(database));
  return StateFolder{.lock = std::move(lock),
                     .database = std::move(database),
                     .last_ms = last_ms,
                     .uploads = uploads_of(options.folder)};
}

}  // namespace mynah::jobs
