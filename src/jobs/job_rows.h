// Jobs as rows of a database.
#pragma once

#include <string>

#include "jobs/job.h"
#include "store/sqlite.h"

namespace mynah::jobs {

// Settings and tables of a database that is new, or known. Unsupported where a newer mynah wrote
// it.
Status prepare_tables(const Database& database);

// "SELECT ... FROM jobs " + `where`, for read_job().
Result<Statement> select_jobs(const Database& database, const std::string& where);

// The present row. Where the request is not what was written, the job has failed, with an error
// that says so.
[[nodiscard]] Job read_job(const Statement& row);

// Puts a row in; the job gets a number where it has none.
Status insert_job(const Database& database, Job& job);

// Writes all that changes in a job's life.
Status update_job(const Database& database, const Job& job);

Status insert_rendition(const Database& database, int64_t job, const Rendition& rendition);

// NotFound: the job has none so. Io where it is not what was written.
Result<Rendition> find_rendition(const Database& database, int64_t job, std::string_view format);

// All of a job.
Result<std::vector<Rendition>> find_renditions(const Database& database, int64_t job);

}  // namespace mynah::jobs
