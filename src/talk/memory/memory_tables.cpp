#include "talk/memory/memory_tables.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "store/files.h"

namespace mynah::talk {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kVersion = 1;
constexpr int64_t kApplication = 1836674669;  // "mynm", as kTables has it

// `gone` are items that are to be forgotten; meta's `tidy` says that bytes of some may be left in
// the files. unicode61 takes accents off, porter knows that "ran" and "runs" are not one word and
// "running" and "runs" are.
constexpr const char* kTables =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE conversations(id INTEGER PRIMARY KEY AUTOINCREMENT, front TEXT NOT NULL,"
    "  at_ms INTEGER NOT NULL);"
    "CREATE TABLE items("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,"
    "  kind INTEGER NOT NULL, source INTEGER REFERENCES items(id) ON DELETE CASCADE,"
    "  origin INTEGER NOT NULL, who TEXT NOT NULL, language TEXT NOT NULL, at_ms INTEGER NOT NULL,"
    "  text TEXT NOT NULL, played TEXT);"
    "CREATE INDEX items_by_conversation ON items(conversation, id);"
    "CREATE INDEX items_by_source ON items(source);"
    "CREATE TABLE vectors(item INTEGER PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE,"
    "  model TEXT NOT NULL, vector BLOB NOT NULL);"
    "CREATE TABLE gone(item INTEGER PRIMARY KEY);"
    "CREATE VIRTUAL TABLE words USING fts5(text, who, content='items', content_rowid='id',"
    "  tokenize='porter unicode61 remove_diacritics 2');"
    "PRAGMA application_id=1836674669; PRAGMA user_version=1;";

std::string path_of(const std::string& folder) {
  return folder + "/memory.db";
}

Result<int64_t> number_of(const Database& database, const char* pragma) {
  MYNAH_TRY(Statement statement, database.prepare(pragma));
  MYNAH_TRY(const bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

// Makes the tables where there are none. Io: it is damaged.
Status prepare(const Database& database, const std::string& path) {
  MYNAH_TRY_STATUS(database.keep_safely());
  return database.in_transaction([&]() -> Status {
    MYNAH_TRY(const int64_t version, number_of(database, "PRAGMA user_version"));
    MYNAH_TRY(const int64_t application, number_of(database, "PRAGMA application_id"));
    MYNAH_TRY(const int64_t tables, number_of(database, "SELECT count(*) FROM sqlite_master"));
    if (tables == 0) {
      return database.execute(kTables);
    }
    if (application != kApplication) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted mynah's memory, found another program's database: move "
                              "it away, or name another --memory-folder",
                              path));
    }
    if (version > kVersion) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{} was written by a newer mynah (version {} of it, this one knows "
                              "{}): run that one, or name another --memory-folder",
                              path, version, kVersion));
    }
    return {};
  });
}

// Rows of a table as far as they can be read from one side, put into another database: those that
// are there already were read from the other side.
void copy_rows(const std::string& aside, const Database& into, const std::string& table,
               const std::string& columns, const std::string& key, const std::string& side) {
  auto from = Database::open(aside);
  if (!from) {
    return;
  }
  auto rows = from->prepare(
      fmt::format("SELECT {} FROM {} NOT INDEXED ORDER BY {} {}", columns, table, key, side));
  const auto count = 1 + std::ranges::count(columns, ',');
  std::string places = "?";
  for (int64_t i = 1; i < count; ++i) {
    places += ",?";
  }
  while (rows) {
    const auto more = rows->step();
    if (!more || !*more) {
      return;
    }
    auto insert = into.prepare(
        fmt::format("INSERT OR IGNORE INTO {}({}) VALUES({})", table, columns, places));
    if (!insert) {
      return;
    }
    for (int i = 0; i < static_cast<int>(count); ++i) {
      if (rows->is_null(i)) {
        insert->bind(std::nullopt);
      } else if (rows->is_number(i)) {
        insert->bind(rows->integer(i));
      } else {
        insert->bind(rows->text(i));
      }
    }
    static_cast<void>(insert->run());  // a row that breaks a rule is none
  }
}

// Vectors and the index of words are made again.
Result<int64_t> salvage_memory(const std::string& aside, const Database& into) {
  struct Table {
    const char* name;
    const char* columns;
    const char* key;
  };

  constexpr Table kRead[] = {
      {"conversations", "id, front, at_ms", "id"},
      {"items", "id, conversation, kind, source, origin, who, language, at_ms, text, played", "id"},
      {"gone", "item", "item"}};
  // What a row refers to may be lost, or come later.
  MYNAH_TRY_STATUS(into.execute("PRAGMA foreign_keys=OFF"));
  for (const Table& table : kRead) {
    for (const char* const side : {"ASC", "DESC"}) {
      copy_rows(aside, into, table.name, table.columns, table.key, side);
    }
  }
  MYNAH_TRY_STATUS(into.in_transaction([&] {
    return into.execute(
        "INSERT OR IGNORE INTO conversations(id, front, at_ms)"
        "  SELECT conversation, '', min(at_ms) FROM items GROUP BY conversation;"
        "DELETE FROM items WHERE source IS NOT NULL AND source NOT IN (SELECT id FROM items);"
        "INSERT INTO words(words) VALUES('rebuild');");
  }));
  MYNAH_TRY_STATUS(into.execute("PRAGMA foreign_keys=ON"));
  return number_of(into, "SELECT count(*) FROM items");
}

}  // namespace

Result<Database> open_memory_database(const std::string& folder,
                                      const std::function<void(const std::string&)>& tell) {
  MYNAH_TRY_STATUS(make_private_folder(folder));
  // Two processes that begin at once do not both mend it. It is held for as long as that takes.
  MYNAH_TRY(const FileLock lock, FileLock::wait_for(folder + "/lock"));
  const std::string path = path_of(folder);
  std::string damage;
  {
    auto database = Database::open(path);
    const Status prepared =
        database ? prepare(*database, path) : Status(std::unexpected(database.error()));
    if (!prepared && prepared.error().code != ErrorCode::Io) {
      return std::unexpected(prepared.error());
    }
    damage = prepared ? database->find_damage() : prepared.error().message;
    if (damage.empty()) {
      return database;
    }
  }
  MYNAH_TRY(const std::string aside, move_database_aside(path));
  MYNAH_TRY(Database fresh, Database::open(path));
  MYNAH_TRY_STATUS(prepare(fresh, path));
  MYNAH_TRY(const int64_t saved, salvage_memory(aside, fresh));
  if (tell) {
    tell(
        fmt::format("the memory was damaged ({}): {} turns and facts could be read of it and are "
                    "kept; what it was is {} until something is forgotten",
                    damage, saved, aside));
  }
  return fresh;
}

Status remove_damaged_copies(const std::string& folder) {
  const std::string beginning = fs::path(path_of(folder)).filename().string() + ".damaged-";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(beginning)) {
      fs::remove(entry.path(), error);
      if (error) {
        break;
      }
    }
  }
  if (error) {
    return fail(ErrorCode::Environment,
                fmt::format("a damaged copy of the memory cannot be removed from {}: {}", folder,
                            error.message()));
  }
  return {};
}

}  // namespace mynah::talk
