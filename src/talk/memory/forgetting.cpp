#include "talk/memory/forgetting.h"

#include "talk/memory/memory_tables.h"

namespace mynah::talk {
namespace {

Result<int64_t> count_of(const Database& database, const char* query) {
  MYNAH_TRY(Statement statement, database.prepare(query));
  MYNAH_TRY(const bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

// What the log holds is in the database, and the log is empty.
Status empty_log(const Database& database) {
  MYNAH_TRY(Statement checkpoint, database.prepare("PRAGMA wal_checkpoint(TRUNCATE)"));
  MYNAH_TRY(const bool told, checkpoint.step());
  if (told && checkpoint.integer(0) != 0) {
    return fail(ErrorCode::Busy,
                "another process reads the memory: what was forgotten leaves its files when the "
                "memory is opened next");
  }
  return {};
}

Status set_tidy(const Database& database, bool pending) {
  MYNAH_TRY(Statement note,
            database.prepare("INSERT OR REPLACE INTO meta(name, value) VALUES('tidy', ?)"));
  return note.bind(int64_t{pending ? 1 : 0}).run();
}

}  // namespace

Result<int64_t> Forgetting::mark(std::span<const int64_t> ids) const {
  int64_t marked = 0;
  const Status done = database_.in_transaction([&]() -> Status {
    for (const int64_t id : ids) {
      MYNAH_TRY(Statement mark, database_.prepare("INSERT OR IGNORE INTO gone(item) VALUES(?)"));
      MYNAH_TRY_STATUS(mark.bind(id).run());
    }
    MYNAH_TRY_STATUS(database_.execute(
        "INSERT OR IGNORE INTO gone(item) SELECT source FROM items WHERE source IS NOT NULL AND id "
        "IN (SELECT item FROM gone);"
        "INSERT OR IGNORE INTO gone(item) SELECT id FROM items WHERE source IN (SELECT item FROM "
        "gone);"));
    MYNAH_TRY(marked, count_of(database_,
                               "SELECT count(*) FROM gone WHERE item IN (SELECT id FROM items)"));
    return {};
  });
  return done ? Result<int64_t>(marked) : std::unexpected(done.error());
}

// FTS5 keeps words of rows that were deleted until it merges: the index is made again.
Status Forgetting::remove_rows() const {
  return database_.in_transaction([&]() -> Status {
    MYNAH_TRY_STATUS(set_tidy(database_, true));
    return database_.execute(
        "DELETE FROM vectors WHERE item IN (SELECT id FROM items WHERE conversation IN (SELECT "
        "conversation FROM items WHERE id IN (SELECT item FROM gone)));"
        "DELETE FROM conversations WHERE id IN (SELECT conversation FROM items WHERE id IN (SELECT "
        "item FROM gone)) AND NOT EXISTS (SELECT 1 FROM items WHERE conversation = "
        "conversations.id AND id NOT IN (SELECT item FROM gone));"
        "DELETE FROM items WHERE id IN (SELECT item FROM gone);"
        "INSERT INTO words(words) VALUES('rebuild');"
        "DELETE FROM gone;");
  });
}

Status Forgetting::tidy() const {
  MYNAH_TRY_STATUS(remove_damaged_copies(folder_));
  MYNAH_TRY_STATUS(empty_log(database_));
  MYNAH_TRY_STATUS(database_.execute("VACUUM"));
  MYNAH_TRY_STATUS(empty_log(database_));
  return set_tidy(database_, false);
}

Status Forgetting::finish() const {
  MYNAH_TRY(const int64_t gone, count_of(database_, "SELECT count(*) FROM gone"));
  if (gone > 0) {
    MYNAH_TRY_STATUS(remove_rows());
  }
  MYNAH_TRY(const int64_t pending,
            count_of(database_, "SELECT value FROM meta WHERE name = 'tidy'"));
  return pending == 0 ? Status() : tidy();
}

}  // namespace mynah::talk
