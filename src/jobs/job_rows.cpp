#include "jobs/job_rows.h"

#include <span>

#include <fmt/format.h>

#include "store/sha256.h"

namespace mynah::jobs {
namespace {

constexpr int64_t kVersion = 1;

constexpr const char* kTables =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE jobs("
    "  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,"
    "  parameters TEXT NOT NULL, webhook TEXT NOT NULL, webhook_text INTEGER NOT NULL,"
    "  digest TEXT NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
    "  expires_ms INTEGER NOT NULL, failed INTEGER NOT NULL, error_code INTEGER NOT NULL,"
    "  error TEXT NOT NULL, text TEXT NOT NULL, length_s REAL NOT NULL, model TEXT NOT NULL,"
    "  device TEXT NOT NULL, webhook_state INTEGER NOT NULL, webhook_tries INTEGER NOT NULL,"
    "  webhook_due_ms INTEGER NOT NULL, webhook_error TEXT NOT NULL);"
    "CREATE INDEX jobs_by_state ON jobs(state, owner, attempts, number);"
    "CREATE INDEX jobs_by_owner ON jobs(owner, number);"
    "CREATE INDEX jobs_by_webhook ON jobs(webhook_state, webhook_due_ms);"
    "CREATE TABLE results("
    "  job INTEGER NOT NULL REFERENCES jobs(number) ON DELETE CASCADE, format TEXT NOT NULL,"
    "  type TEXT NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY(job, format));"
    "PRAGMA user_version=1;";

constexpr const char* kColumns =
    "number, id, owner, parameters, webhook, webhook_text, digest, state, attempts, created_ms, "
    "started_ms, ended_ms, expires_ms, failed, error_code, error, text, length_s, model, device, "
    "webhook_state, webhook_tries, webhook_error";

std::string digest_of(const std::string& text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

// Of what is asked and said: SQLite has no checksums, and a damaged page may look like one that is
// whole.
std::string digest_of(const Job& job) {
  std::string all;
  for (const std::string& part : {job.id, job.request.owner, job.request.parameters,
                                  job.request.webhook, job.progress.text}) {
    all += fmt::format("{}:{},", part.size(), part);
  }
  return digest_of(all + (job.request.webhook_text ? "text" : ""));
}

Result<Rendition> read_rendition(const Statement& row) {
  Rendition rendition{.format = row.text(0), .type = row.text(1), .text = row.text(2)};
  if (digest_of(rendition.text) != row.text(3)) {
    return fail(ErrorCode::Io, "the result was damaged on the disk: hear the recording again");
  }
  return rendition;
}

Result<Statement> select_renditions(const Database& database) {
  return database.prepare("SELECT format, type, text, digest FROM results WHERE job = ?");
}

}  // namespace

Status prepare_tables(const Database& database) {
  MYNAH_TRY_STATUS(database.keep_safely());
  MYNAH_TRY(Statement version, database.prepare("PRAGMA user_version"));
  MYNAH_TRY(const bool has_version, version.step());
  const int64_t found = has_version ? version.integer(0) : 0;
  if (found > kVersion) {
    return fail(ErrorCode::Unsupported,
                fmt::format("the journal of jobs was written by a newer mynah (version {} of it, "
                            "this one knows {}): run that one, or name another --state-folder",
                            found, kVersion));
  }
  if (found == kVersion) {
    return {};
  }
  return database.in_transaction([&database] { return database.execute(kTables); });
}

Result<Statement> select_jobs(const Database& database, const std::string& where) {
  return database.prepare(fmt::format("SELECT {} FROM jobs {}", kColumns, where));
}

Job read_job(const Statement& row) {
  Job job;
  int column = 0;
  job.number = row.integer(column++);
  job.id = row.text(column++);
  job.request.owner = row.text(column++);
  job.request.parameters = row.text(column++);
  job.request.webhook = row.text(column++);
  job.request.webhook_text = row.integer(column++) != 0;
  const std::string digest = row.text(column++);
  job.state = static_cast<JobState>(row.integer(column++));
  job.attempts = static_cast<int>(row.integer(column++));
  job.created_ms = row.integer(column++);
  job.started_ms = row.integer(column++);
  job.ended_ms = row.integer(column++);
  job.expires_ms = row.integer(column++);
  const bool failed = row.integer(column++) != 0;
  const auto code = static_cast<ErrorCode>(row.integer(column++));
  std::string error = row.text(column++);
  if (failed) {
    job.error = Error{.code = code, .message = std::move(error)};
  }
  job.progress.text = row.text(column++);
  const double length_s = row.number(column++);
  if (length_s > 0) {
    job.progress.length_s = length_s;
    job.progress.heard_s = length_s;
  }
  job.model = row.text(column++);
  job.device = row.text(column++);
  job.webhook_state = static_cast<WebhookState>(row.integer(column++));
  job.webhook_tries = static_cast<int>(row.integer(column++));
  job.webhook_error = row.text(column++);
  if (digest != digest_of(job)) {
    job.state = JobState::Failed;
    job.webhook_state = WebhookState::None;
    job.error = Error{ErrorCode::Io, "what is kept of the job was damaged on the disk: ask again"};
  }
  return job;
}

Status insert_job(const Database& database, Job& job) {
  const bool numbered = job.number != 0;
  MYNAH_TRY(Statement insert,
            database.prepare(fmt::format(
                "INSERT INTO jobs({}{}, webhook_due_ms) VALUES({}?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                numbered ? "number, " : "", std::string_view(kColumns).substr(8),
                numbered ? "?, " : "")));
  if (numbered) {
    insert.bind(job.number);
  }
  const Error error = job.error.value_or(Error{});
  insert.bind(job.id).bind(job.request.owner).bind(job.request.parameters);
  insert.bind(job.request.webhook).bind(int64_t{job.request.webhook_text}).bind(digest_of(job));
  insert.bind(static_cast<int64_t>(job.state)).bind(int64_t{job.attempts}).bind(job.created_ms);
  insert.bind(job.started_ms).bind(job.ended_ms).bind(job.expires_ms);
  insert.bind(int64_t{job.error.has_value()}).bind(static_cast<int64_t>(error.code));
  insert.bind(error.message).bind(job.progress.text).bind(job.progress.length_s.value_or(0));
  insert.bind(job.model).bind(job.device).bind(static_cast<int64_t>(job.webhook_state));
  insert.bind(int64_t{job.webhook_tries}).bind(job.webhook_error);
  MYNAH_TRY_STATUS(insert.run());
  job.number = database.last_row();
  return {};
}

Status update_job(const Database& database, const Job& job) {
  MYNAH_TRY(
      Statement update,
      database.prepare(
          "UPDATE jobs SET digest = ?, state = ?, attempts = ?, started_ms = ?, ended_ms = ?, "
          "expires_ms = ?, failed = ?, error_code = ?, error = ?, text = ?, length_s = ?, "
          "model = ?, device = ?, webhook_state = ? WHERE number = ?"));
  const Error error = job.error.value_or(Error{});
  update.bind(digest_of(job)).bind(static_cast<int64_t>(job.state)).bind(int64_t{job.attempts});
  update.bind(job.started_ms);
  update.bind(job.ended_ms).bind(job.expires_ms).bind(int64_t{job.error.has_value()});
  update.bind(static_cast<int64_t>(error.code)).bind(error.message).bind(job.progress.text);
  update.bind(job.progress.length_s.value_or(0)).bind(job.model).bind(job.device);
  update.bind(static_cast<int64_t>(job.webhook_state)).bind(job.number);
  return update.run();
}

Status insert_rendition(const Database& database, int64_t job, const Rendition& rendition) {
  MYNAH_TRY(Statement insert,
            database.prepare("INSERT INTO results(job, format, type, text, digest) "
                             "VALUES(?, ?, ?, ?, ?)"));
  insert.bind(job).bind(rendition.format).bind(rendition.type).bind(rendition.text);
  return insert.bind(digest_of(rendition.text)).run();
}

Result<Rendition> find_rendition(const Database& database, int64_t job, std::string_view format) {
  MYNAH_TRY(Statement rows, database.prepare("SELECT format, type, text, digest FROM results "
                                             "WHERE job = ? AND format = ?"));
  rows.bind(job).bind(format);
  MYNAH_TRY(const bool found, rows.step());
  if (!found) {
    return fail(ErrorCode::NotFound, fmt::format("the job has no result as {}", format));
  }
  return read_rendition(rows);
}

Result<std::vector<Rendition>> find_renditions(const Database& database, int64_t job) {
  MYNAH_TRY(Statement rows, select_renditions(database));
  rows.bind(job);
  std::vector<Rendition> all;
  while (true) {
    MYNAH_TRY(const bool more, rows.step());
    if (!more) {
      return all;
    }
    MYNAH_TRY(Rendition one, read_rendition(rows));
    all.push_back(std::move(one));
  }
}

}  // namespace mynah::jobs
