#include "store/sqlite.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/unique_fd.h"

namespace mynah {
namespace {

// What SQLite's code means for whoever asks.
std::unexpected<Error> sqlite_failure(int code, sqlite3* database, const std::string& path) {
  const std::string said = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return fail(ErrorCode::Environment,
                  fmt::format("no room is left for {}: make some on its disk", path));
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return fail(ErrorCode::Environment,
                  fmt::format("{} cannot be read or written ({}): look at its disk and its "
                              "permissions",
                              path, said));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(ErrorCode::Busy,
                  fmt::format("{} is in use by another process for too long: try again", path));
    case SQLITE_NOMEM:
      return fail(ErrorCode::OutOfMemory, fmt::format("no memory is left for {}", path));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(ErrorCode::Io,
                  fmt::format("{} is damaged ({}): start mynah again, which saves what can be read",
                              path, said));
    default:
      return fail(ErrorCode::Io, fmt::format("{}: {}", path, said));
  }
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(sqlite3_stmt* statement, sqlite3* database, std::string path)
    : statement_(statement), database_(database), path_(std::move(path)) {}

Statement& Statement::bind(std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  failed_ = failed_ != SQLITE_OK ? failed_ : code;
  return *this;
}

Statement& Statement::bind(int64_t number) {
  const int code = sqlite3_bind_int64(statement_.get(), ++bound_, number);
  failed_ = failed_ != SQLITE_OK ? failed_ : code;
  return *this;
}

Statement& Statement::bind(double number) {
  const int code = sqlite3_bind_double(statement_.get(), ++bound_, number);
  failed_ = failed_ != SQLITE_OK ? failed_ : code;
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> bytes) {
  const int code =
      sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  failed_ = failed_ != SQLITE_OK ? failed_ : code;
  return *this;
}

Statement& Statement::bind(std::nullopt_t /*none*/) {
  const int code = sqlite3_bind_null(statement_.get(), ++bound_);
  failed_ = failed_ != SQLITE_OK ? failed_ : code;
  return *this;
}

Result<bool> Statement::step() {
  const int code = failed_ != SQLITE_OK ? failed_ : sqlite3_step(statement_.get());
  if (code == SQLITE_ROW || code == SQLITE_DONE) {
    return code == SQLITE_ROW;
  }
  return sqlite_failure(code, database_, path_);
}

Status Statement::run() {
  while (true) {
    MYNAH_TRY(const bool more, step());
    if (!more) {
      return {};
    }
  }
}

std::string Statement::text(int column) const {
  const auto* const text =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string() : std::string(text, static_cast<size_t>(size));
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::span<const std::byte> Statement::bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const std::byte*>(bytes), bytes == nullptr ? 0 : static_cast<size_t>(size)};
}

bool Statement::is_number(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Closer::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Result<Database> Database::open(const std::string& path) {
  // SQLite gives its other files the permissions of this one.
  if (const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); !made) {
    return fail(ErrorCode::Environment,
                fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  Database database(opened, path);
  if (code != SQLITE_OK) {
    return sqlite_failure(code, opened, path);
  }
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &prepared, nullptr);
  if (code != SQLITE_OK) {
    return sqlite_failure(code, database_.get(), path_);
  }
  return Statement(prepared, database_.get(), path_);
}

Status Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return sqlite_failure(code, database_.get(), path_);
  }
  return {};
}

Status Database::keep_safely() const {
  return execute(
      "PRAGMA busy_timeout=5000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "PRAGMA secure_delete=ON; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;");
}

std::string Database::find_damage() const {
  auto check = prepare("PRAGMA integrity_check(1)");
  if (!check) {
    return check.error().message;
  }
  const auto row = check->step();
  if (!row) {
    return row.error().message;
  }
  std::string said = *row ? check->text(0) : std::string();
  return said == "ok" ? std::string() : said;
}

Status Database::in_transaction(const std::function<Status()>& work) const {
  MYNAH_TRY_STATUS(execute("BEGIN IMMEDIATE"));
  Status done = work();
  if (done) {
    done = execute("COMMIT");
  }
  if (!done && sqlite3_get_autocommit(database_.get()) == 0) {
    static_cast<void>(execute("ROLLBACK"));  // what failed is told
  }
  return done;
}

int64_t Database::changed() const {
  return sqlite3_changes64(database_.get());
}

int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(database_.get());
}

Result<std::string> move_database_aside(const std::string& path) {
  std::string aside;
  std::error_code error;
  for (int i = 1; aside.empty() || std::filesystem::exists(aside, error); ++i) {
    aside = fmt::format("{}.damaged-{}", path, i);
  }
  for (const char* ending : {"", "-wal", "-shm"}) {
    if (std::filesystem::exists(path + ending, error)) {
      std::filesystem::rename(path + ending, aside + ending, error);
      if (error) {
        return fail(
            ErrorCode::Environment,
            fmt::format("{} is damaged and cannot be moved aside: {}", path, error.message()));
      }
    }
  }
  return aside;
}

}  // namespace mynah
